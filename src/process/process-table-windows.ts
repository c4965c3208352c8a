import { messageOf, type RunCommand } from "./process-table-command.ts";
import type { ProcessEntry, ProcessTable } from "./process-table-types.ts";

/** The `System` process lives from boot to shutdown under this pid. */
const SYSTEM_PID = 4;

/**
 * Reads Win32_Process through PowerShell, some 500 ms per call. Start times are absolute, in steps of 100 ns.
 * Environments of other processes are not shown, so `carriers` is always empty; there are no zombies.
 */
export function windowsProcessTable(run: RunCommand): ProcessTable {
	let lastError: string | undefined;
	let bootId = "";

	async function query(filter?: string): Promise<ProcessEntry[]> {
		try {
			const args = ["-NoLogo", "-NoProfile", "-NonInteractive", "-Command", script(filter)];
			const entries = parseWindowsProcesses(await run("powershell.exe", args));
			lastError = undefined;
			return entries;
		} catch (error) {
			lastError = messageOf(error);
			return [];
		}
	}

	async function find(pid: number): Promise<ProcessEntry | undefined> {
		if (!Number.isSafeInteger(pid) || pid < 0) return undefined;
		return (await query(`ProcessId = ${pid}`))[0];
	}

	return {
		async list() {
			const entries = await query();
			// There is always PowerShell itself.
			if (entries.length === 0) lastError ??= "Win32_Process listed no process";
			return entries;
		},
		async carriers() {
			return [];
		},
		find,
		async bootId() {
			// Not LastBootUpTime: that one moves when the clock is set.
			bootId ||= (await find(SYSTEM_PID))?.startTime ?? "";
			return bootId;
		},
		get lastError() {
			return lastError;
		},
	};
}

function script(filter: string | undefined): string {
	const where = filter === undefined ? "" : ` -Filter '${filter}'`;
	// The idle process may have no creation date.
	const start = "$(if ($_.CreationDate) { $_.CreationDate.ToFileTimeUtc() } else { 0 })";
	return (
		`Get-CimInstance Win32_Process -Property ProcessId,ParentProcessId,CreationDate${where} | ` +
		`ForEach-Object { "$($_.ProcessId) $($_.ParentProcessId) ${start}" }`
	);
}

/** Reads lines of pid, parent pid and creation time in steps of 100 ns since 1601. */
export function parseWindowsProcesses(text: string): ProcessEntry[] {
	const rows: { pid: number; ppid: number; start: bigint }[] = [];
	for (const line of text.split("\n")) {
		const match = /^(\d+) (\d+) (\d+)\s*$/.exec(line);
		if (match !== null) rows.push({ pid: Number(match[1]), ppid: Number(match[2]), start: BigInt(match[3] as string) });
	}
	const starts = new Map(rows.map((row) => [row.pid, row.start]));
	return rows.map(({ pid, ppid, start }) => ({
		pid,
		// Windows keeps the number of a parent that ended; who got that number later is not the parent.
		ppid: (starts.get(ppid) ?? 0n) > start ? 0 : ppid,
		pgid: undefined,
		startTime: String(start),
		zombie: false,
	}));
}
