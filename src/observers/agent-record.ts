import { NO_USAGE, type UsageTotals } from "./usage.ts";

export type RunStatus = "queued" | "starting" | "running" | "stopping" | "completed" | "failed" | "stopped" | "lost";

/** A status from which there is no way back but a new attempt. */
export type EndStatus = Extract<RunStatus, "completed" | "failed" | "stopped" | "lost">;

const NEXT: Readonly<Record<RunStatus, readonly RunStatus[]>> = {
	queued: ["starting", "stopped", "failed", "lost"],
	starting: ["running", "stopping", "completed", "failed", "stopped", "lost"],
	running: ["stopping", "completed", "failed", "stopped", "lost"],
	stopping: ["completed", "failed", "stopped", "lost"],
	completed: [],
	failed: [],
	stopped: [],
	lost: [],
};

/** A run was to take a step that its state does not allow: a fault in the program, not of the run. */
export class IllegalTransitionError extends Error {
	override readonly name = "IllegalTransitionError";
	constructor(from: RunStatus, to: RunStatus) {
		super(`A run that is ${from} cannot become ${to}.`);
	}
}

/** How many tokens one turn took. */
export interface TurnUsage {
	readonly turn: number;
	readonly in: number;
	readonly out: number;
}

/** How many turns are kept one by one; older ones are in the totals. */
const MAX_TURNS_KEPT = 500;

/** A run in memory. Its status changes only through its methods, its counters only through the record observer. */
export class AgentRecord {
	readonly runId: string;
	readonly createdAt: number = Date.now();
	/** Executed tool calls, nested ones included. */
	toolUses = 0;
	toolErrors = 0;
	readonly toolCounts = new Map<string, number>();
	lifetimeUsage: UsageTotals = NO_USAGE;
	compactionCount = 0;
	/** Finished turns: an answer of the model with all its tool calls. */
	turns = 0;
	retries = 0;
	/** The last turns, at most 500. */
	readonly perTurn: TurnUsage[] = [];
	#status: RunStatus;
	#startedAt: number | undefined;
	#completedAt: number | undefined;

	constructor(runId: string, status: Extract<RunStatus, "queued" | "starting"> = "starting") {
		this.runId = runId;
		this.#status = status;
		if (status === "starting") this.#startedAt = this.createdAt;
	}

	get status(): RunStatus {
		return this.#status;
	}

	/** Milliseconds since the epoch; undefined while queued. */
	get startedAt(): number | undefined {
		return this.#startedAt;
	}

	/** When it ended, in milliseconds since the epoch: when it happened, not when it was asked for. */
	get completedAt(): number | undefined {
		return this.#completedAt;
	}

	get ended(): boolean {
		return NEXT[this.#status].length === 0;
	}

	/** @throws IllegalTransitionError unless it is queued */
	markStarting(): void {
		this.#enter("starting");
		this.#startedAt = Date.now();
	}

	/** @throws IllegalTransitionError unless it is starting */
	markRunning(): void {
		this.#enter("running");
	}

	/** @throws IllegalTransitionError when it has ended or never started */
	markStopping(): void {
		this.#enter("stopping");
	}

	/** @throws IllegalTransitionError when it has ended before */
	markEnded(status: EndStatus): void {
		this.#enter(status);
		this.#completedAt = Date.now();
	}

	/** Adds the tokens of one turn. For the record observer. */
	noteTurn(turn: TurnUsage): void {
		this.perTurn.push(turn);
		if (this.perTurn.length > MAX_TURNS_KEPT) this.perTurn.shift();
	}

	#enter(status: RunStatus): void {
		if (!NEXT[this.#status].includes(status)) throw new IllegalTransitionError(this.#status, status);
		this.#status = status;
	}
}
