import { closeSync, openSync, readdirSync, readFileSync, readSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { setImmediate } from "node:timers/promises";
import { isSignallable } from "./process-identity.ts";
import { messageOf } from "./process-table-command.ts";
import type { ProcessEntry, ProcessMarker, ProcessTable } from "./process-table-types.ts";

/** How many `stat` files are read in a row; some 10 µs each, after which other work gets its turn. */
const SLICE = 200;
/** How many `environ` files are read at a time. */
const CONCURRENCY = 16;
/** Reused by every read of a `stat`: 52 numbers and a name of 15 bytes. `readFileSync` takes four times as long. */
const statBuffer = Buffer.allocUnsafe(4096);

/** Reads `/proc`. */
export function linuxProcessTable(procRoot: string): ProcessTable {
	let lastError: string | undefined;
	let bootId = "";

	function pids(): number[] {
		try {
			const names = readdirSync(procRoot);
			lastError = undefined;
			return names.map(Number).filter((pid) => Number.isInteger(pid) && pid > 0);
		} catch (error) {
			lastError = messageOf(error);
			return [];
		}
	}

	return {
		async list() {
			const entries: ProcessEntry[] = [];
			let untilPause = SLICE;
			for (const pid of pids()) {
				if (untilPause-- === 0) {
					await setImmediate();
					untilPause = SLICE;
				}
				const entry = readLinuxProcess(pid, procRoot);
				if (entry !== undefined) entries.push(entry);
			}
			return entries;
		},
		async carriers(marker) {
			const queue = pids().filter(isSignallable);
			const found: number[] = [];
			const worker = async (): Promise<void> => {
				for (let pid = queue.pop(); pid !== undefined; pid = queue.pop()) {
					const environ = await readEnviron(pid, procRoot);
					if (environ !== undefined && environHolds(environ, marker)) found.push(pid);
				}
			};
			await Promise.all(Array.from({ length: CONCURRENCY }, worker));
			return found.sort((a, b) => a - b);
		},
		async find(pid) {
			return readLinuxProcess(pid, procRoot);
		},
		async bootId() {
			try {
				bootId ||= readFileSync(`${procRoot}/sys/kernel/random/boot_id`, "latin1").trim();
			} catch (error) {
				lastError = messageOf(error);
			}
			return bootId;
		},
		get lastError() {
			return lastError;
		},
	};
}

/**
 * One process, read at once: `stat` is made in memory and never waits for the process, and a synchronous read costs
 * a fifth of one in the thread pool.
 */
export function readLinuxProcess(pid: number, procRoot = "/proc"): ProcessEntry | undefined {
	if (!Number.isSafeInteger(pid) || pid < 1) return undefined;
	let file: number | undefined;
	try {
		file = openSync(`${procRoot}/${pid}/stat`, "r");
		return parseLinuxStat(statBuffer.toString("latin1", 0, readSync(file, statBuffer)));
	} catch {
		// It ended meanwhile, or belongs to a user whose processes are hidden: for us it is not there.
		return undefined;
	} finally {
		if (file !== undefined) closeSync(file);
	}
}

/** Reads the content of `/proc/<pid>/stat`; undefined when it is none. */
export function parseLinuxStat(stat: string): ProcessEntry | undefined {
	// The second field is the name in parentheses; it may hold blanks, parentheses and newlines.
	const nameEnd = stat.lastIndexOf(")");
	const pid = Number.parseInt(stat, 10);
	// Numbered as in proc(5), minus 3: 0 is the state, 1 the parent, 2 the group, 19 the start in ticks since boot.
	const fields = stat.slice(nameEnd + 2).split(" ");
	const [state, ppid, pgid] = fields;
	const startTime = fields[19];
	if (nameEnd < 0 || Number.isNaN(pid) || state === undefined || startTime === undefined) return undefined;
	return {
		pid,
		ppid: Number(ppid),
		pgid: Number(pgid),
		startTime,
		zombie: state === "Z" || state.toUpperCase() === "X",
	};
}

/** Reads in the thread pool: the kernel may have to wait for the memory of a hanging process. */
async function readEnviron(pid: number, procRoot: string): Promise<Buffer | undefined> {
	try {
		return await readFile(`${procRoot}/${pid}/environ`);
	} catch {
		// Ended meanwhile, or of another user: not one of ours in either case.
		return undefined;
	}
}

/** Whether the content of `/proc/<pid>/environ`, entries that end in NUL, has exactly this entry. */
export function environHolds(environ: Buffer, marker: ProcessMarker): boolean {
	const wanted = Buffer.from(`${marker.name}=${marker.value}`);
	for (let at = environ.indexOf(wanted); at >= 0; at = environ.indexOf(wanted, at + 1)) {
		const end = at + wanted.length;
		if ((at === 0 || environ[at - 1] === 0) && (end === environ.length || environ[end] === 0)) return true;
	}
	return false;
}
