import type { RunStatus } from "../observers/agent-record.ts";
import type { UsageTotals } from "../observers/usage.ts";

/** `run.json`: what a run is and how it stands. Paths are relative to its folder, times ISO 8601, cost US dollars. */
export interface RunManifest {
	readonly version: 1;
	readonly runId: string;
	readonly owner: RunOwner;
	readonly agent: { readonly name: string; readonly source: string; readonly file: string };
	readonly runtime: "pi";
	readonly task: string;
	readonly cwd: string;
	readonly status: RunStatus;
	/** Null until it has ended. */
	readonly exitPath: string | null;
	/** Why it failed or was stopped; empty otherwise. */
	readonly reason: string;
	readonly warnings: readonly string[];
	readonly createdAt: string;
	readonly completedAt: string | null;
	readonly meta: RunMeta;
	readonly usage: UsageTotals;
	readonly counters: RunCounters;
	readonly attempts: readonly RunAttempt[];
	/** False when the disk failed: something of the run is missing here. */
	readonly recordComplete: boolean;
}

/** The process that manages a run. All four together identify it. */
export interface RunOwner {
	readonly host: string;
	readonly bootId: string;
	readonly pid: number;
	readonly startTime: string;
}

/** Where a model or thinking level came from. */
export type ModelSource = "flag" | "parameter" | "agent" | "settings" | "parent" | "default";

/** With what and on whose word a run was started. */
export interface RunMeta {
	/** `tool` or `command`. */
	readonly startedBy: "tool" | "command";
	readonly flightdeck: { readonly version: string; readonly path: string };
	readonly node: string;
	readonly platform: string;
	readonly pi: { readonly version: string | null; readonly command: readonly string[]; readonly foundBy: string };
	readonly model: { readonly id: string | null; readonly source: ModelSource };
	readonly thinking: { readonly level: string | null; readonly source: ModelSource };
	/** Null: the child's default. */
	readonly tools: readonly string[] | null;
	readonly depth: number;
	readonly parentRunId: string | null;
	readonly parentSessionId: string | null;
	readonly taskBytes: number;
	readonly taskSha256: string;
}

interface RunCounters {
	readonly turns: number;
	readonly toolUses: number;
	readonly toolErrors: number;
	readonly retries: number;
	readonly compactions: number;
}

/** One child process that worked on the run. */
export interface RunAttempt {
	readonly number: number;
	readonly sessionId: string;
	readonly sessionFile: string | null;
	/** Null until it has started. */
	readonly pid: number | null;
	readonly startTime: string | null;
	readonly bootId: string | null;
	/** As the child reported it; may differ from the model that was asked for. */
	readonly model: string | null;
	/** Null until it has ended. */
	readonly exit: AttemptExit | null;
}

interface AttemptExit {
	readonly code: number | null;
	readonly signal: string | null;
	readonly stopReason: string | null;
	readonly forced: boolean;
	readonly streams: "closed" | "held";
	readonly leftovers: readonly number[];
	readonly stderrTail: string;
}
