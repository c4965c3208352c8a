import { isSignallable } from "./process-identity.ts";
import { messageOf, type RunCommand } from "./process-table-command.ts";
import type { ProcessEntry, ProcessMarker, ProcessTable } from "./process-table-types.ts";

const COLUMNS = ["-o", "pid=", "-o", "ppid=", "-o", "pgid=", "-o", "stat=", "-o", "lstart="];
/** `-ww`: without it `ps` cuts lines at the width of a terminal, and with them the environment. */
const COMMANDS = ["-A", "-ww", "-o", "pid=", "-o", "command="];

/** Reads `ps`. Its start times have a resolution of one second, in which no pid is used twice. */
export function macosProcessTable(run: RunCommand): ProcessTable {
	let lastError: string | undefined;
	let bootId = "";

	async function output(command: string, args: readonly string[]): Promise<string> {
		try {
			const text = await run(command, args);
			lastError = undefined;
			return text;
		} catch (error) {
			lastError = messageOf(error);
			return "";
		}
	}

	return {
		async list() {
			const entries = parseMacosProcesses(await output("ps", ["-A", ...COLUMNS]));
			// There is always `ps` itself.
			if (entries.length === 0) lastError ??= "ps listed no process";
			return entries;
		},
		async carriers(marker) {
			// One after the other: a process that is in the second list only has an unknown command, and is left out.
			const plain = await output("ps", COMMANDS);
			const withEnvironment = await output("ps", ["-E", ...COMMANDS]);
			return parseMacosCarriers(plain, withEnvironment, marker).filter(isSignallable);
		},
		async find(pid) {
			if (!Number.isSafeInteger(pid) || pid < 1) return undefined;
			return parseMacosProcesses(await output("ps", ["-p", String(pid), ...COLUMNS]))[0];
		},
		async bootId() {
			bootId ||= (await output("/usr/sbin/sysctl", ["-n", "kern.bootsessionuuid"])).trim();
			if (bootId === "") lastError ??= "sysctl knows no kern.bootsessionuuid";
			return bootId;
		},
		get lastError() {
			return lastError;
		},
	};
}

/** Reads lines of pid, ppid, pgid, state and start (`Mon Jan  5 10:00:00 2026`). */
export function parseMacosProcesses(text: string): ProcessEntry[] {
	const entries: ProcessEntry[] = [];
	for (const line of text.split("\n")) {
		const [pid, ppid, pgid, state, ...start] = line.trim().split(/\s+/);
		if (state === undefined || start.length === 0) continue;
		entries.push({
			pid: Number(pid),
			ppid: Number(ppid),
			pgid: Number(pgid),
			startTime: start.join("_"),
			zombie: state.startsWith("Z"),
		});
	}
	return entries;
}

/**
 * Pids with the marker in their environment. `ps -E` prints it after the command, parted by blanks: what a process
 * merely has on its command line is told apart by the list without environments.
 */
export function parseMacosCarriers(plain: string, withEnvironment: string, marker: ProcessMarker): number[] {
	const commands = commandsByPid(plain);
	const wanted = ` ${marker.name}=${marker.value} `;
	const found: number[] = [];
	for (const [pid, line] of commandsByPid(withEnvironment)) {
		const command = commands.get(pid);
		if (command === undefined || !line.startsWith(command)) continue;
		if (`${line.slice(command.length)} `.includes(wanted)) found.push(pid);
	}
	return found;
}

function commandsByPid(text: string): Map<number, string> {
	const commands = new Map<number, string>();
	for (const line of text.split("\n")) {
		const match = /^\s*(\d+) (.*)$/.exec(line);
		if (match !== null) commands.set(Number(match[1]), (match[2] as string).trimEnd());
	}
	return commands;
}
