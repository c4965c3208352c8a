import { mkdtempSync, readdirSync, readlinkSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { type LineSink, LogFileTailer, type LogFileTailerOptions } from "../../src/process/log-file-tailer.ts";
import type { LogSourceConfig } from "../../src/process/log-source.ts";
import { type OutputSource, sourceKey } from "../../src/process/output-source.ts";

/** So long that only the watcher can be what made a test pass. */
export const NEVER_POLL = { pollIntervalMs: 3_600_000 };
export const POLL_ONLY = { watch: false };

/** Splits what it is fed into lines, as the bus does: NULs at the start of a line are padding. */
export class CollectingSink implements LineSink {
	readonly lines: string[] = [];
	readonly sources = new Set<string>();
	/** Size of the largest piece it was fed, in bytes. */
	largestFeed = 0;
	ends = 0;
	/** Called after every feed. */
	onFeed: () => void = () => undefined;
	#open: Buffer[] = [];

	feed(bytes: Buffer, source: OutputSource): void {
		this.sources.add(sourceKey(source));
		this.largestFeed = Math.max(this.largestFeed, bytes.length);
		let start = 0;
		for (let lf = bytes.indexOf(10); lf >= 0; lf = bytes.indexOf(10, start)) {
			this.#open.push(bytes.subarray(start, lf));
			this.#deliver();
			start = lf + 1;
		}
		if (start < bytes.length) this.#open.push(bytes.subarray(start));
		this.onFeed();
	}

	end(source: OutputSource): void {
		this.sources.add(sourceKey(source));
		this.ends++;
		if (this.#open.length > 0) this.#deliver();
	}

	#deliver(): void {
		const raw = Buffer.concat(this.#open);
		this.#open = [];
		let start = 0;
		while (start < raw.length && raw[start] === 0) start++;
		if (start === 0 || start < raw.length) this.lines.push(raw.subarray(start).toString());
	}
}

export interface Rig {
	readonly sink: CollectingSink;
	readonly tailer: LogFileTailer;
	/** The directory of the source. */
	readonly directory: string;
	/** The file of a file source. */
	readonly file: string;
	/** Resolves when at least `count` lines arrived, with all of them. */
	lines(count: number): Promise<string[]>;
	/** Resolves after a look that began after this call ended, by the poll timer. */
	nextPoll(): Promise<void>;
}

/** A tailer, not yet started, over a temporary directory. Stopped and removed when the test ends. */
export function rig(config: Partial<LogSourceConfig> = {}, options: LogFileTailerOptions = {}): Rig {
	const directory = config.path ?? temporaryDirectory();
	const file = join(directory, "x.log");
	const sink = new CollectingSink();
	const type = config.type ?? "file";
	const source: LogSourceConfig = {
		pollIntervalMs: 25,
		name: "log",
		...config,
		type,
		path: type === "file" ? file : directory,
	};
	const tailer = new LogFileTailer(source, sink, options);
	onTestFinished(() => tailer.stop());
	return {
		sink,
		tailer,
		directory,
		file,
		lines: async (count) => {
			await waitFor(
				() => sink.lines.length >= count,
				() => `${count} lines, got ${JSON.stringify(sink.lines)}`,
			);
			return sink.lines;
		},
		nextPoll: async () => {
			// The look that is counted next may have begun before; the one after the next one ends it.
			const after = tailer.getMetrics().pollReadsPerformed + 2;
			await waitFor(
				() => tailer.getMetrics().pollReadsPerformed >= after,
				() => "two more polls",
			);
		},
	};
}

/** An empty directory that is removed when the test ends. */
export function temporaryDirectory(): string {
	const directory = realpathSync.native(mkdtempSync(join(tmpdir(), "log-tailer-")));
	onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
	return directory;
}

/** The descriptors of this process that are open in a directory, or on a file, deleted ones included. Linux only. */
export function openDescriptors(prefix: string): string[] {
	if (process.platform !== "linux") return [];
	return readdirSync("/proc/self/fd")
		.map((fd) => {
			try {
				return readlinkSync(`/proc/self/fd/${fd}`);
			} catch {
				return ""; // The descriptor of the listing itself is gone by now.
			}
		})
		.filter((target) => target.startsWith(prefix));
}

/** Resolves when the clock of the file system has moved on, coarse as it may be. */
export async function laterTime(): Promise<void> {
	const start = Date.now();
	await waitFor(
		() => Date.now() > start + 15,
		() => "another time",
	);
}

/** Resolves when the condition holds; rejects after `deadlineMs` milliseconds. */
export async function waitFor(condition: () => boolean, what: () => string, deadlineMs = 5000): Promise<void> {
	const deadline = performance.now() + deadlineMs;
	while (!condition()) {
		if (performance.now() > deadline) throw new Error(`waited in vain for ${what()}`);
		await new Promise((resolve) => setTimeout(resolve, 2));
	}
}
