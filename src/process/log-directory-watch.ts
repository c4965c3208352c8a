import * as fs from "node:fs";
import { basename } from "node:path";
import { isMissing } from "./log-tailer-metrics.ts";

/** The part of `fs.watch` that is used; tests put their own in its place. */
export type WatchDirectory = (
	directory: string,
	options: { readonly persistent: false },
	listener: (event: string, filename: string | null) => void,
) => { close(): void; on(event: "error", listener: () => void): unknown };

/** Gets what happened (`change` or `rename`) and the name that it is about; null stands for any. */
export type OnNotice = (event: string, filename: string | null) => void;

/**
 * A watcher on a directory, renewed when the directory was replaced by another one. It is a hint and may be absent:
 * whoever uses it polls as well. The directory is watched because a watched file is an inode, and stays silent about
 * the file that takes its name. The watcher does not keep the event loop alive.
 */
export class LogDirectoryWatch {
	readonly #directory: string;
	readonly #watch: WatchDirectory;
	readonly #onNotice: OnNotice;
	readonly #onError: () => void;
	#watcher: ReturnType<WatchDirectory> | undefined;
	/** The directory that is watched, or that could not be. */
	#identity: string | undefined;

	constructor(directory: string, watch: WatchDirectory, onNotice: OnNotice, onError: () => void) {
		this.#directory = directory;
		this.#watch = watch;
		this.#onNotice = onNotice;
		this.#onError = onError;
	}

	/** Whether `ensure` is due, because the watched directory was moved or removed. */
	get stale(): boolean {
		return this.#identity === undefined;
	}

	/** Watches the directory that has these stats, unless it is watched. A failure is final for that directory. */
	ensure(stats: fs.BigIntStats): void {
		const identity = `${stats.dev}:${stats.ino}:${stats.birthtimeNs}`;
		if (identity === this.#identity) return;
		this.close();
		this.#identity = identity;
		try {
			// On Windows a short 8.3 path (RUNNER~1) given to fs.watch ends the process.
			const directory = fs.realpathSync.native(this.#directory);
			const watcher = this.#watch(directory, { persistent: false }, (event, filename) => {
				if (this.#watcher !== watcher) return;
				// The directory itself was moved or removed: nothing more will come from this watcher.
				const itself = event === "rename" && filename === basename(directory);
				if (itself) this.#identity = undefined;
				this.#onNotice(event, itself ? null : filename);
			});
			this.#watcher = watcher;
			watcher.on("error", () => {
				// Polling goes on alone, until there is another directory.
				this.#onError();
				if (this.#watcher === watcher) this.#closeWatcher();
			});
		} catch (error) {
			// No inotify instance left, a file system without notices, and the like: polling is enough.
			if (isMissing(error)) this.#identity = undefined;
			else this.#onError();
		}
	}

	close(): void {
		this.#identity = undefined;
		this.#closeWatcher();
	}

	#closeWatcher(): void {
		const watcher = this.#watcher;
		this.#watcher = undefined;
		watcher?.close();
	}
}
