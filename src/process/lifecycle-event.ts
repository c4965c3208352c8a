/** What happened to a process, for logs and records. */
export type LifecycleEventType =
	| "spawned"
	| "spawn_error"
	| "response_timeout"
	| "final_drain"
	| "hard_kill"
	| "exit"
	| "close";

export interface LifecycleEvent {
	readonly type: LifecycleEventType;
	/** ISO 8601 wall-clock time. */
	readonly ts: string;
	/** Undefined when there never was a process. */
	readonly pid: number | undefined;
	readonly code?: number | null | undefined;
	readonly signal?: NodeJS.Signals | null | undefined;
	/** The operation that timed out, with `response_timeout`. */
	readonly operation?: { readonly id: string; readonly type: string; readonly elapsedMs: number } | undefined;
	/** On an unexpected end: code, signal and the last 1,000 characters of stderr. */
	readonly error?: string | undefined;
	/** On an unexpected end: the last 500 characters of stderr. */
	readonly stderrExcerpt?: string | undefined;
}
