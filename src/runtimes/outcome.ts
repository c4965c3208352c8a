import type { EndStatus } from "../observers/agent-record.ts";

/** How an attempt ended, in one word. */
export type ExitPath = "done" | "stopped" | "refused" | "provider-error" | "spawn-failed" | "crashed" | "incomplete";

/** The verdict on one attempt. */
export interface AttemptOutcome {
	readonly status: EndStatus;
	readonly exitPath: ExitPath;
	/** The last answer in full; null when there is none. */
	readonly answer: string | null;
	/** Why it failed or was stopped, in words for a person; empty after success. */
	readonly reason: string;
	/** What a person should know although it does not change the status. */
	readonly warnings: readonly string[];
}
