import type { ChildEvent } from "../events/agent-event.ts";
import type { AgentRecord } from "../observers/index.ts";
import type { ManagedProcess } from "../process/index.ts";
import type { RunMeta } from "../records/run-manifest.ts";
import type { AttemptOutcome } from "../runtimes/outcome.ts";
import type { RunPlan } from "./prepare-run.ts";

/** A planned run, and the circumstances of its start. */
export interface SpawnOptions extends RunPlan {
	readonly projectTrusted: boolean;
	readonly startedBy: RunMeta["startedBy"];
	readonly parentSessionId?: string | undefined;
	/** Aborting it stops the run, with its reason if that is a text; aborted before the start, nothing is started. */
	readonly signal?: AbortSignal | undefined;
	/** Told in the tick in which the child was spawned: who wants its events subscribes to its bus then. */
	readonly onProcessCreated?: ((process: ManagedProcess<ChildEvent>, attempt: AttemptInfo) => void) | undefined;
}

/** One attempt, for whoever watches it. */
export interface AttemptInfo {
	readonly number: number;
	readonly record: AgentRecord;
	readonly recordDir: string;
}

/** How a run went. */
export interface RunResult {
	readonly record: AgentRecord;
	readonly outcome: AttemptOutcome;
	/** The folder of the run record; undefined when nothing was started. */
	readonly recordDir: string | undefined;
	/** Where the whole answer is, when there is one. */
	readonly resultFile: string | undefined;
	/** Why the record is incomplete, if it is. */
	readonly recordProblem: string | undefined;
	/** The model that answered, `provider/id`. */
	readonly model: string | undefined;
}
