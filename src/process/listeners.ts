/** Listeners of one event. An error in one of them reaches neither the others nor the caller. */
export class Listeners<A extends readonly unknown[]> {
	readonly #onError: (error: unknown) => void;
	#listeners: readonly ((...args: A) => void)[] = [];

	/** @param onError told of every error a listener throws or rejects with */
	constructor(onError: (error: unknown) => void) {
		this.#onError = onError;
	}

	get size(): number {
		return this.#listeners.length;
	}

	/** @returns a function that removes the listener again */
	add(listener: (...args: A) => void): () => void {
		// Wrapped, so that adding the same function twice makes two registrations that end separately.
		const registration = (...args: A) => listener(...args);
		this.#listeners = [...this.#listeners, registration];
		return () => {
			this.#listeners = this.#listeners.filter((other) => other !== registration);
		};
	}

	call(...args: A): void {
		for (const listener of this.#listeners) callGuarded(() => listener(...args), this.#onError);
	}

	clear(): void {
		this.#listeners = [];
	}
}

/** Calls foreign code; whatever it throws, or rejects with when it is async, goes to `onError` and no further. */
export function callGuarded(call: () => unknown, onError: (error: unknown) => void): void {
	try {
		const result = call();
		if (result instanceof Promise) result.catch(onError);
	} catch (error) {
		onError(error);
	}
}
