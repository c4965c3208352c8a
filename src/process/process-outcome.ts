/** How a child ended, told once everything it wrote has been read. */
export interface ProcessOutcome {
	/** Exit code as the system gave it; null after a signal or when there was no process. */
	readonly code: number | null;
	readonly signal: NodeJS.Signals | null;
	/** The child could not be started; its message. */
	readonly spawnError?: string | undefined;
	/** Reason given to the first `stop()` that came before the exit. */
	readonly stopReason?: string | undefined;
	/** We sent a signal or destroyed a pipe to end it. */
	readonly forcedExit: boolean;
	/** `held`: a surviving descendant kept a pipe open, so our end was destroyed after a grace. */
	readonly streams: "closed" | "held";
	/** The end of stderr, at most 64 KiB, cut at a character. */
	readonly stderrTail: string;
	/** Processes of this child still alive when it settled. */
	readonly leftovers: readonly number[];
}
