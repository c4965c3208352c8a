import * as fs from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import type { LogSourceConfig } from "./log-source.ts";
import { isMissing } from "./log-tailer-metrics.ts";

/** A log file that a look at the file system found. */
export interface LogCandidate {
	readonly path: string;
	readonly stats: fs.BigIntStats;
}

/** The log files of a source, oldest first. `onError` gets what failed and is more than a missing file. */
export async function lookForLogs(source: LogSourceConfig, onError: () => void): Promise<LogCandidate[]> {
	let paths = [source.path];
	if (source.type === "directory") {
		try {
			paths = logPaths(source.path, await readdir(source.path));
		} catch (error) {
			if (!isMissing(error)) onError(); // Counted there; the next look tries again.
			return [];
		}
	}
	const found = await Promise.all(
		paths.map((path) =>
			stat(path, { bigint: true }).then(
				(stats) => ({ path, stats }),
				(error: unknown) => {
					if (!isMissing(error)) onError(); // As above.
					return undefined;
				},
			),
		),
	);
	return oldestFirst(found);
}

/** The same, within the present tick: for `start()`, which must not take what is written right after it for old. */
export function lookForLogsSync(source: LogSourceConfig, onError: () => void): LogCandidate[] {
	function attempt<T>(action: () => T): T | undefined {
		try {
			return action();
		} catch (error) {
			if (!isMissing(error)) onError(); // Counted there; the first pass looks again.
			return undefined;
		}
	}
	const paths =
		source.type === "file" ? [source.path] : logPaths(source.path, attempt(() => fs.readdirSync(source.path)) ?? []);
	return oldestFirst(
		paths.map((path) => {
			const stats = attempt(() => fs.statSync(path, { bigint: true }));
			return stats === undefined ? undefined : { path, stats };
		}),
	);
}

/** Whether a name in a directory source is that of a log file. */
export function isLogName(name: string): boolean {
	return name.toLowerCase().endsWith(".log");
}

/** What tells two files apart while both exist. An inode is reused after a file is gone, hence also the birth time. */
export function fileId(stats: fs.BigIntStats): string {
	return `${stats.dev}:${stats.ino}`;
}

const stat = promisify(fs.stat);
const readdir = promisify(fs.readdir);

function logPaths(directory: string, names: readonly string[]): string[] {
	return names.filter(isLogName).map((name) => join(directory, name));
}

function oldestFirst(found: readonly (LogCandidate | undefined)[]): LogCandidate[] {
	return found
		.filter((one) => one !== undefined)
		.filter((one) => one.stats.isFile())
		.sort(byAge);
}

/** By modification time, then birth time, then name. */
function byAge(a: LogCandidate, b: LogCandidate): number {
	if (a.stats.mtimeNs !== b.stats.mtimeNs) return a.stats.mtimeNs < b.stats.mtimeNs ? -1 : 1;
	if (a.stats.birthtimeNs !== b.stats.birthtimeNs) return a.stats.birthtimeNs < b.stats.birthtimeNs ? -1 : 1;
	return a.path < b.path ? -1 : 1;
}
