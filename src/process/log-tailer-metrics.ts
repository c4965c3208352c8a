/** What a tailer did so far. */
export interface LogTailerMetrics {
	/** Bytes read from log files, those of lines that were held back or skipped included. */
	readonly bytesRead: number;
	/** Lines handed over: those that ended with LF, and the partial ones that were flushed. */
	readonly linesFed: number;
	/** Failed calls to the file system or the watcher. A file or directory that is not there (yet) is no error. */
	readonly readErrors: number;
	/** Notices of the watcher, whatever they were about. */
	readonly watchEventsReceived: number;
	/** Looks that the poll timer started. */
	readonly pollReadsPerformed: number;
	/** Offset in bytes up to which the current file was read. 0 without one. */
	readonly currentOffset: number;
	/** Path of the newest file. Undefined until there is one. */
	readonly currentFile: string | undefined;
}

/** The counters that the parts of one tailer share. */
export interface LogCounters {
	bytesRead: number;
	readErrors: number;
	watchEventsReceived: number;
	pollReadsPerformed: number;
}

/** Whether an error of the file system says only that nothing is there: the normal state before a late file. */
export function isMissing(error: unknown): boolean {
	const code = error instanceof Error && "code" in error ? error.code : undefined;
	return code === "ENOENT" || code === "ENOTDIR";
}
