import { type RunCommand, runCommand } from "./process-table-command.ts";
import { linuxProcessTable } from "./process-table-linux.ts";
import { macosProcessTable } from "./process-table-macos.ts";
import type { ProcessTable } from "./process-table-types.ts";
import { windowsProcessTable } from "./process-table-windows.ts";

export type { ProcessEntry, ProcessMarker, ProcessTable } from "./process-table-types.ts";

/** What a table reads; replaced by tests. */
export interface ProcessTableIo {
	/** Runs `ps`, `sysctl` or PowerShell. */
	readonly run: RunCommand;
	/** Where Linux mounts its process file system. */
	readonly procRoot: string;
}

/** The process table of this platform. Systems other than Linux and Windows are read with `ps`, as on macOS. */
export function createProcessTable(
	platform: NodeJS.Platform = process.platform,
	io: Partial<ProcessTableIo> = {},
): ProcessTable {
	if (platform === "linux") return linuxProcessTable(io.procRoot ?? "/proc");
	const run = io.run ?? runCommand;
	return platform === "win32" ? windowsProcessTable(run) : macosProcessTable(run);
}
