/** A file, or a directory of `.log` files, that a child writes and that is read as one more source of lines. */
export interface LogSourceConfig {
	/** Name of the source: `OutputSources.logFile(name)`. */
	readonly name: string;
	readonly type: "file" | "directory";
	/** Absolute path. A missing directory is created before it is watched; a missing file may appear later. */
	readonly path: string;
	/** Milliseconds that a line waits at most without a watcher: looks at the file system lie a little closer. Default 500. */
	readonly pollIntervalMs?: number | undefined;
	/** Whether to use a file-system watcher as a hint to read earlier. Default true. */
	readonly watch?: boolean | undefined;
	/** Milliseconds between two reads while tailing is busy; an idle tailer reads at once. Default 50. */
	readonly debounceMs?: number | undefined;
	/** Longest line in bytes for this source. Default: that of the bus. */
	readonly maxLineBytes?: number | undefined;
}
