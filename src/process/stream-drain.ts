import type { Readable } from "node:stream";

/** How long a pipe may stay open after its process has exited. */
export interface DrainOptions {
	/** Milliseconds without output after which the pipe counts as held by somebody else. Default 500. */
	readonly idleMs?: number | undefined;
	/** Milliseconds after which it is given up although output still comes. Default 5000. */
	readonly capMs?: number | undefined;
}

const DEFAULT_IDLE_MS = 500;
const DEFAULT_CAP_MS = 5000;

/** Follows the output pipes of one process until each is closed, or given up after the exit. */
export class StreamDrain {
	readonly #open = new Set<Readable>();
	readonly #closed = Promise.withResolvers<"closed" | "held">();
	readonly #options: DrainOptions;
	#activity = 0;
	#held = false;
	#idleTimer: NodeJS.Timeout | undefined;
	#capTimer: NodeJS.Timeout | undefined;

	constructor(options: DrainOptions = {}) {
		this.#options = options;
	}

	/** Resolves once no pipe is open any more: by itself, or because our end was destroyed. */
	get closed(): Promise<"closed" | "held"> {
		return this.#closed.promise;
	}

	get isOpen(): boolean {
		return this.#open.size > 0;
	}

	/** Reads a pipe from now on. `onEnd` is called exactly once, after the last data. */
	read(stream: Readable, onData: (chunk: Buffer) => void, onEnd: () => void): void {
		this.#open.add(stream);
		stream.on("data", (chunk: Buffer) => {
			this.#activity++;
			onData(chunk);
		});
		// An error on a pipe (a destroyed descriptor, EIO of a terminal) ends it; "close" follows.
		stream.on("error", () => stream.destroy());
		stream.once("close", () => {
			if (!this.#open.delete(stream)) return;
			onEnd();
			this.#finishIfClosed();
		});
	}

	/** The process has exited: from now on an idle pipe is given up. */
	startGrace(): void {
		if (this.#finishIfClosed()) return;
		// The first turn reads what is there, the second one that it was the last.
		const giveUp = () => afterInput(() => afterInput(() => this.#giveUp()));
		this.#capTimer = setTimeout(giveUp, this.#options.capMs ?? DEFAULT_CAP_MS);
		this.#armIdle();
	}

	#armIdle(): void {
		const before = this.#activity;
		this.#idleTimer = setTimeout(() => {
			afterInput(() => {
				if (!this.isOpen) return;
				if (this.#activity === before) this.#giveUp();
				else this.#armIdle();
			});
		}, this.#options.idleMs ?? DEFAULT_IDLE_MS);
	}

	#giveUp(): void {
		for (const stream of this.#open) {
			// The end of a pipe is heard a turn of the loop before its "close": that one closes by itself.
			if (!stream.readableEnded) this.#held = true;
			stream.destroy();
		}
	}

	#finishIfClosed(): boolean {
		if (this.isOpen) return false;
		clearTimeout(this.#idleTimer);
		clearTimeout(this.#capTimer);
		this.#closed.resolve(this.#held ? "held" : "closed");
		return true;
	}
}

/** Timers run before input is read: after a busy spell of this program output may be waiting. One turn of the loop tells. */
function afterInput(act: () => void): void {
	setImmediate(act);
}
