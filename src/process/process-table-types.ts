/** One process as the system shows it. */
export interface ProcessEntry {
	readonly pid: number;
	readonly ppid: number;
	/** Process group; undefined on Windows, which has none. */
	readonly pgid: number | undefined;
	/** Opaque, without white space, comparable for equality only; with the boot id and pid it identifies a process. */
	readonly startTime: string;
	/** Ended, but not yet collected by its parent. */
	readonly zombie: boolean;
}

/** An environment variable that a child and all its descendants inherit, so that they can be found again. */
export interface ProcessMarker {
	readonly name: string;
	readonly value: string;
}

/** Who descends from whom, since when, with which marker. No method rejects. */
export interface ProcessTable {
	/** Every visible process, this one included. Empty when the table cannot be read: see `lastError`. */
	list(): Promise<readonly ProcessEntry[]>;
	/**
	 * Pids whose environment at their start holds exactly `name=value`, never this process, pid 0 or 1.
	 * Only processes whose environment this user may read; on Windows always empty (it shows no environments).
	 */
	carriers(marker: ProcessMarker): Promise<readonly number[]>;
	/** Undefined when there is no such process, or when the table cannot be read: see `lastError`. */
	find(pid: number): Promise<ProcessEntry | undefined>;
	/** Differs after every boot; empty when unknown. */
	bootId(): Promise<string>;
	/** Why the last call found nothing, when the table could not be read. */
	readonly lastError: string | undefined;
}
