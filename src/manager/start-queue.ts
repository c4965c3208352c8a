import { availableParallelism, totalmem } from "node:os";

/** How many children may run at once, and how far apart their starts are. */
export interface StartLimits {
	readonly concurrency: number;
	/** Milliseconds between two starts. */
	readonly startGapMs: number;
}

/** Memory of an idle pi child, in bytes (measured: 115 MB), doubled for what it does. */
const CHILD_BYTES = 230_000_000;
/** CPU time of the start of a pi child, in milliseconds (measured: 850 to 1050). */
const START_CPU_MS = 900;
/** Above this, more children only share the same limits of their provider. */
const MAX_CONCURRENCY = 16;

/**
 * What this machine bears. Children wait for their model most of the time: two a core, within half of the memory.
 * @param concurrency a number that somebody set; 0 for what the machine bears
 */
export function startLimits(concurrency: number): StartLimits {
	const cores = availableParallelism();
	const byMemory = Math.floor(totalmem() / 2 / CHILD_BYTES);
	const automatic = Math.max(1, Math.min(cores * 2, byMemory, MAX_CONCURRENCY));
	return { concurrency: concurrency || automatic, startGapMs: START_CPU_MS / cores };
}

interface Waiting {
	readonly admit: (leave: () => void) => void;
}

/**
 * Lets children start in the order they came, so many at once and so far apart. It knows nothing of what they are: it owns
 * a count and a line. The first start after a pause never waits.
 */
export class StartQueue {
	readonly #limits: StartLimits;
	readonly #line: Waiting[] = [];
	#running = 0;
	#lastStart = Number.NEGATIVE_INFINITY;
	#timer: NodeJS.Timeout | undefined;

	constructor(limits: StartLimits) {
		this.#limits = limits;
	}

	/**
	 * Waits for a place. Resolves with the function that gives the place back; or with undefined, without having had a place,
	 * when the signal is aborted first. Never rejects.
	 */
	enter(signal: AbortSignal | undefined): Promise<(() => void) | undefined> {
		if (signal?.aborted) return Promise.resolve(undefined);
		const { promise, resolve } = Promise.withResolvers<(() => void) | undefined>();
		const giveUp = () => {
			this.#line.splice(this.#line.indexOf(waiting), 1);
			resolve(undefined);
		};
		const waiting: Waiting = {
			admit: (leave) => {
				signal?.removeEventListener("abort", giveUp);
				resolve(leave);
			},
		};
		signal?.addEventListener("abort", giveUp, { once: true });
		this.#line.push(waiting);
		this.#admit();
		return promise;
	}

	#admit(): void {
		while (this.#line.length > 0 && this.#running < this.#limits.concurrency && !this.#timer) {
			const wait = this.#lastStart + this.#limits.startGapMs - performance.now();
			if (wait > 0) {
				this.#timer = setTimeout(() => {
					this.#timer = undefined;
					this.#admit();
				}, wait);
				return;
			}
			this.#running++;
			this.#lastStart = performance.now();
			this.#line.shift()?.admit(this.#place());
		}
	}

	/** The function that gives one place back, once. */
	#place(): () => void {
		let held = true;
		return () => {
			if (!held) return;
			held = false;
			this.#running--;
			this.#admit();
		};
	}
}
