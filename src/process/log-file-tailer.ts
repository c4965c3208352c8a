import * as fs from "node:fs";
import { basename, dirname } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import { hrNow } from "./hr-timestamp.ts";
import { LogDirectoryWatch, type WatchDirectory } from "./log-directory-watch.ts";
import { LogFileSet } from "./log-file-set.ts";
import { type LineSink, LogLineFeeder } from "./log-line-feeder.ts";
import { isLogName, lookForLogs, lookForLogsSync } from "./log-look.ts";
import { LogReadPacer } from "./log-read-pacer.ts";
import type { LogSourceConfig } from "./log-source.ts";
import { isMissing, type LogCounters, type LogTailerMetrics } from "./log-tailer-metrics.ts";
import { makeDirectory } from "./make-directory.ts";
import { type OutputSource, OutputSources } from "./output-source.ts";

export type { LineSink, LogTailerMetrics };

/** What tests and callers on other platforms may replace. */
export interface LogFileTailerOptions {
	/** Default `process.platform`. */
	readonly platform?: NodeJS.Platform | undefined;
	/** Default `fs.watch`. */
	readonly watchDirectory?: WatchDirectory | undefined;
	/**
	 * Milliseconds since the epoch. A file that was born then or later counts as new although it is there at `start()`: its
	 * writer, started a moment before the tailer, was faster. Default: none does.
	 */
	readonly since?: number | undefined;
	/** Milliseconds of quiet after which a file that was replaced, deleted or outrun is let go. Default 2000. */
	readonly leftBehindMs?: number | undefined;
}

/**
 * Reads the log files of a source as they grow, into a bus. What was there before `start()` is not read.
 *
 * Every `pollIntervalMs` it looks at the file system; a watcher only makes it look earlier. One look follows another,
 * never two at a time. Timer and watcher do not keep the event loop alive: a process that waits for nothing but log
 * lines ends. Use `stop()` to get the lines that were written last.
 */
export class LogFileTailer {
	readonly #source: LogSourceConfig;
	readonly #directory: string;
	readonly #pollIntervalMs: number;
	readonly #platform: NodeJS.Platform;
	readonly #since: number;
	readonly #counters: LogCounters = { bytesRead: 0, readErrors: 0, watchEventsReceived: 0, pollReadsPerformed: 0 };
	readonly #feeder: LogLineFeeder;
	readonly #files: LogFileSet;
	readonly #pacer: LogReadPacer;
	readonly #watch: LogDirectoryWatch | undefined;
	#state: "new" | "started" | "stopping" = "new";
	/** Whether the directory was ever there. One that was removed afterwards is not created again: that is for its owner. */
	#directoryExisted = false;
	#pollTimer: NodeJS.Timeout | undefined;
	#noticeTimer: NodeJS.Timeout | undefined;
	#pollDue = false;
	#noticed = false;
	/** Whether a notice was about more than growth of the newest file. */
	#lookDue = true;
	/** Whether a notice cannot wait: between two rotations of a file source there may be no time for a debounce. */
	#urgent = false;
	#running: Promise<void> | undefined;
	#stopped: Promise<void> | undefined;

	constructor(source: LogSourceConfig, bus: LineSink, options: LogFileTailerOptions = {}) {
		this.#source = source;
		this.#directory = source.type === "directory" ? source.path : dirname(source.path);
		this.#pollIntervalMs = Math.max(1, source.pollIntervalMs ?? 500);
		this.#platform = options.platform ?? process.platform;
		this.#since = options.since ?? Number.POSITIVE_INFINITY;
		const maxHeldBytes = source.maxLineBytes ?? 64 * 1024 * 1024;
		const output: OutputSource = OutputSources.logFile(source.name);
		this.#feeder = new LogLineFeeder(bus, output, maxHeldBytes);
		this.#files = new LogFileSet(this.#feeder, this.#counters, options.leftBehindMs ?? 2000);
		this.#pacer = new LogReadPacer(Math.max(0, source.debounceMs ?? 50));
		if (source.watch === false) return;
		this.#watch = new LogDirectoryWatch(
			this.#directory,
			options.watchDirectory ?? fs.watch,
			(event, filename) => this.#notice(event, filename),
			this.#countError,
		);
	}

	/** Creates the directory and begins. What is written after this call is read, even within the same tick. */
	start(): void {
		if (this.#state !== "new") return;
		this.#state = "started";
		try {
			makeDirectory(this.#directory);
			this.#directoryExisted = true;
			this.#watch?.ensure(fs.statSync(this.#directory, { bigint: true }));
		} catch {
			this.#countError(); // No right to create it, a file in the way, and the like: polls try again.
		}
		const there = lookForLogsSync(this.#source, this.#countError);
		this.#files.startAtEnds(there.filter(({ stats }) => Number(stats.birthtimeNs) / 1e6 < this.#since));
		this.#pollTimer = setInterval(() => {
			this.#pollDue = true;
			this.#next();
		}, this.#pollIntervalMs * LOOK_SHARE).unref();
		// What another process wrote between the look and the watcher gave no notice.
		this.#noticed = true;
		this.#next();
	}

	/** Reads what is left, delivers an unfinished last line, and lets go of everything. Never rejects. */
	stop(): Promise<void> {
		this.#stopped ??= this.#shutDown();
		return this.#stopped;
	}

	getMetrics(): LogTailerMetrics {
		return {
			...this.#counters,
			linesFed: this.#feeder.linesFed,
			currentOffset: this.#files.currentOffset,
			currentFile: this.#files.currentPath,
		};
	}

	async #shutDown(): Promise<void> {
		const started = this.#state === "started";
		this.#state = "stopping";
		clearInterval(this.#pollTimer);
		clearTimeout(this.#noticeTimer);
		this.#watch?.close();
		await this.#running;
		if (!started) return;
		// On Windows, what a process wrote before its exit may become visible a moment after it.
		if (this.#platform === "win32") await sleep(WINDOWS_SETTLE_MS);
		await this.#look(true);
		await this.#files.finish();
	}

	#notice(event: string, filename: string | null): void {
		this.#counters.watchEventsReceived++;
		if (filename !== null && !this.#isOurs(filename)) return;
		const current = this.#files.currentPath;
		const grew = event === "change" && current !== undefined && basename(current) === filename;
		if (!grew) this.#lookDue = true;
		if (event === "rename" && this.#source.type === "file") this.#urgent = true;
		this.#noticed = true;
		this.#next();
	}

	/** Whether a notice with this name may be about this source. Others write into the same directory. */
	#isOurs(filename: string): boolean {
		if (this.#source.type === "directory") return isLogName(filename);
		return comparable(filename) === comparable(basename(this.#source.path));
	}

	/** Starts the look that is due, or the timer for the time at which it is. */
	#next(): void {
		if (this.#state !== "started" || this.#running !== undefined) return;
		if (!this.#pollDue && !this.#urgent) {
			if (!this.#noticed || this.#noticeTimer !== undefined) return;
			const delay = this.#pacer.delay(hrNow());
			if (delay > 0) {
				this.#noticeTimer = setTimeout(() => {
					this.#noticeTimer = undefined;
					this.#next();
				}, delay).unref();
				return;
			}
		}
		this.#running = this.#run();
	}

	async #run(): Promise<void> {
		clearTimeout(this.#noticeTimer);
		this.#noticeTimer = undefined;
		const polled = this.#pollDue;
		const look = polled || this.#lookDue;
		this.#pollDue = this.#noticed = this.#lookDue = this.#urgent = false;
		if (polled) this.#counters.pollReadsPerformed++;
		const start = hrNow();
		if (polled || this.#watch?.stale) await this.#findDirectory();
		if (look || !(await this.#files.readAhead())) await this.#look(polled);
		this.#pacer.spent(start, hrNow());
		if (this.#files.behind) this.#noticed = this.#lookDue = true;
		this.#running = undefined;
		this.#next();
	}

	/** Sees that the directory is there, and that it is the one that is watched. */
	async #findDirectory(): Promise<void> {
		try {
			if (!this.#directoryExisted) makeDirectory(this.#directory);
			this.#directoryExisted = true;
			if (this.#watch === undefined) return;
			const stats = await stat(this.#directory, { bigint: true });
			if (this.#state === "started") this.#watch.ensure(stats);
		} catch (error) {
			if (!isMissing(error)) this.#countError(); // The next poll tries again.
			this.#watch?.close();
		}
	}

	async #look(thorough: boolean): Promise<void> {
		try {
			await this.#files.readAll(await lookForLogs(this.#source, this.#countError), thorough);
		} catch {
			this.#countError(); // Only a sink that throws gets here. It must not end the tailing.
		}
	}

	readonly #countError = (): void => {
		this.#counters.readErrors++;
	};
}

const stat = promisify(fs.stat);

/** The interval is how long a line waits at most: the looks lie a little closer, since timer and read come on top. */
const LOOK_SHARE = 0.95;
const WINDOWS_SETTLE_MS = 100;

/** Some file systems change case or Unicode normal form of names. A needless look is cheap. */
function comparable(name: string): string {
	return name.normalize("NFC").toLowerCase();
}
