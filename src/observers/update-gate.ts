/** Lets a notice through at once if the last one is long enough ago, else once when the gap is over. Never loses the last. */
export class UpdateGate {
	readonly #gapMs: number;
	readonly #notify: () => void;
	#last = Number.NEGATIVE_INFINITY;
	#timer: NodeJS.Timeout | undefined;
	#closed = false;

	/** @param gapMs least time between two notices, in milliseconds */
	constructor(gapMs: number, notify: () => void) {
		this.#gapMs = gapMs;
		this.#notify = notify;
	}

	request(): void {
		if (this.#closed || this.#timer) return;
		const wait = this.#last + this.#gapMs - performance.now();
		if (wait <= 0) this.#pass();
		// A pending notice is no reason for a program to stay alive.
		else this.#timer = setTimeout(() => this.#pass(), wait).unref();
	}

	/** Clears the timer; nothing passes afterwards. */
	close(): void {
		this.#closed = true;
		clearTimeout(this.#timer);
	}

	#pass(): void {
		this.#timer = undefined;
		this.#last = performance.now();
		this.#notify();
	}
}
