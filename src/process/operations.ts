import { type HrTimestamp, hrNow } from "./hr-timestamp.ts";

/** `completed`: `complete()` was called. `ended`: the process ended, as it was meant to, before that. */
export type OperationResult = "completed" | "ended";

/** Something that was asked of a process and is waited for. */
export interface Operation {
	readonly id: string;
	readonly startedAt: HrTimestamp;
	/** Rejects with an `OperationError` when the process ends unexpectedly first. */
	readonly promise: Promise<OperationResult>;
	complete(): void;
}

/** An operation was open when its process ended unexpectedly. */
export class OperationError extends Error {
	override readonly name = "OperationError";
	readonly operationType: string;
	/** Milliseconds from the start of the operation to the end of the process. */
	readonly elapsedMs: number;

	constructor(operationType: string, elapsedMs: number, cause: string) {
		super(`${operationType} did not finish after ${Math.round(elapsedMs)} ms: ${cause}`);
		this.operationType = operationType;
		this.elapsedMs = elapsedMs;
	}
}

interface OpenOperation {
	readonly type: string;
	readonly startedAt: HrTimestamp;
	readonly timer: NodeJS.Timeout | undefined;
	readonly resolve: (result: OperationResult) => void;
	readonly reject: (error: OperationError) => void;
}

/** The operations of one process that are still open. */
export class OperationTracker {
	readonly #onTimeout: (operation: { id: string; type: string; elapsedMs: number }) => void;
	readonly #open = new Map<string, OpenOperation>();
	#ended: { failure: string | undefined } | undefined;
	#count = 0;

	/** @param onTimeout told once of an operation that is open after its `timeoutMs`; it stays open */
	constructor(onTimeout: (operation: { id: string; type: string; elapsedMs: number }) => void) {
		this.#onTimeout = onTimeout;
	}

	/** @param timeoutMs milliseconds after which `onTimeout` is told; undefined or 0 means never */
	track(type: string, timeoutMs?: number): Operation {
		const id = `op-${++this.#count}`;
		const startedAt = hrNow();
		const { promise, resolve, reject } = Promise.withResolvers<OperationResult>();
		// An operation nobody waits for must not end the program as an unhandled rejection.
		promise.catch(() => undefined);
		const timer = timeoutMs
			? setTimeout(() => this.#onTimeout({ id, type, elapsedMs: hrNow() - startedAt }), timeoutMs)
			: undefined;
		this.#open.set(id, { type, startedAt, timer, resolve, reject });
		if (this.#ended) this.endAll(this.#ended.failure);
		return { id, startedAt, promise, complete: () => this.#close(id, (open) => open.resolve("completed")) };
	}

	/** Ends all that are open: rejected with `failure`, or resolved as ended where there is none. */
	endAll(failure: string | undefined): void {
		this.#ended = { failure };
		for (const id of [...this.#open.keys()])
			this.#close(id, (open) => {
				if (failure === undefined) open.resolve("ended");
				else open.reject(new OperationError(open.type, hrNow() - open.startedAt, failure));
			});
	}

	#close(id: string, settle: (open: OpenOperation) => void): void {
		const open = this.#open.get(id);
		if (!open) return;
		this.#open.delete(id);
		clearTimeout(open.timer);
		settle(open);
	}
}
