import type { TypedEvent } from "./output-handler.ts";

interface Subscriber<E> {
	readonly listener: (event: E) => void;
	readonly types: ReadonlySet<string> | undefined;
	active: boolean;
}

/** Listeners of a union of events, looked up by event type so that an event nobody wants costs one map read. */
export class EventSubscriptions<E extends TypedEvent> {
	readonly #onError: (error: unknown, type: string) => void;
	#subscribers: readonly Subscriber<E>[] = [];
	/** Who gets which type; filled on first use, forgotten when the subscribers change. */
	readonly #byType = new Map<string, readonly Subscriber<E>[]>();

	/** @param onError told of every error a listener throws or rejects with; it reaches nobody else */
	constructor(onError: (error: unknown, type: string) => void) {
		this.#onError = onError;
	}

	/** @returns the unsubscribe function; once called, the listener gets nothing more, not even of a dispatch under way */
	add(listener: (event: E) => void, types: readonly string[] | undefined): () => void {
		const subscriber: Subscriber<E> = { listener, types: types && new Set(types), active: true };
		this.#replace([...this.#subscribers, subscriber]);
		return () => {
			subscriber.active = false;
			this.#replace(this.#subscribers.filter((other) => other !== subscriber));
		};
	}

	wants(type: string): boolean {
		return this.#listenersOf(type).length > 0;
	}

	dispatch(event: E): void {
		for (const subscriber of this.#listenersOf(event.type)) {
			if (!subscriber.active) continue;
			// Not `callGuarded`: two functions made per event are a third of what a delta costs.
			try {
				const result: unknown = subscriber.listener(event);
				if (result instanceof Promise) result.catch((error) => this.#onError(error, event.type));
			} catch (error) {
				this.#onError(error, event.type);
			}
		}
	}

	clear(): void {
		for (const subscriber of this.#subscribers) subscriber.active = false;
		this.#replace([]);
	}

	#replace(subscribers: readonly Subscriber<E>[]): void {
		this.#subscribers = subscribers;
		this.#byType.clear();
	}

	#listenersOf(type: string): readonly Subscriber<E>[] {
		let listeners = this.#byType.get(type);
		if (!listeners) {
			listeners = this.#subscribers.filter(({ types }) => !types || types.has(type));
			this.#byType.set(type, listeners);
		}
		return listeners;
	}
}
