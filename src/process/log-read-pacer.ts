import type { HrTimestamp } from "./hr-timestamp.ts";

/** Share of the time that reading on notice may use before it is slowed down. Time spent waiting for the disk counts. */
const SHARE = 0.5;

/**
 * Says when a notice may be read: at once while reads use less than half of the time, else `debounceMs` after the last
 * read began. It looks at reads alone, never at notices, so that a stream of notices cannot postpone a read.
 */
export class LogReadPacer {
	readonly #debounceMs: number;
	#budgetMs: number;
	#countedUntil: HrTimestamp = 0;
	#lastStart: HrTimestamp = Number.NEGATIVE_INFINITY;

	/** @param debounceMs milliseconds between two reads while busy; also how much reading a quiet time saves up */
	constructor(debounceMs: number) {
		this.#debounceMs = debounceMs;
		this.#budgetMs = debounceMs;
	}

	/** Milliseconds to wait before the next read; 0 means now. */
	delay(now: HrTimestamp): number {
		this.#refill(now);
		return this.#budgetMs > 0 ? 0 : Math.max(0, this.#lastStart + this.#debounceMs - now);
	}

	/** A read went on between these two times. */
	spent(start: HrTimestamp, end: HrTimestamp): void {
		this.#refill(end);
		// A long backlog counts as one busy interval: it must not slow down the reads of the seconds after it.
		this.#budgetMs = Math.max(-this.#debounceMs, this.#budgetMs - (end - start));
		this.#lastStart = start;
	}

	#refill(now: HrTimestamp): void {
		this.#budgetMs = Math.min(this.#debounceMs, this.#budgetMs + (now - this.#countedUntil) * SHARE);
		this.#countedUntil = now;
	}
}
