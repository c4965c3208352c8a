/** Lets many wait for conditions on a state which announces its changes. */
export interface ChangeSignal {
	/** Says that the state has changed. */
	notify(): void;
	/** Resolves with the first value that is not undefined; asks at once and again on every change. */
	firstOf<T>(ask: () => T | undefined): Promise<T>;
	/** Rejects every promise of `firstOf` that is still open. */
	rejectAll(error: Error): void;
}

interface Waiter {
	check(): void;
	reject(error: Error): void;
}

export function createChangeSignal(): ChangeSignal {
	const waiters = new Set<Waiter>();
	return {
		notify: () => {
			for (const waiter of [...waiters]) waiter.check();
		},
		firstOf: <T>(ask: () => T | undefined) => {
			const { promise, resolve, reject } = Promise.withResolvers<T>();
			const waiter: Waiter = {
				check: () => {
					try {
						const value = ask();
						if (value === undefined) return;
						resolve(value);
					} catch (error) {
						reject(error);
					}
					waiters.delete(waiter);
				},
				reject,
			};
			waiters.add(waiter);
			waiter.check();
			return promise;
		},
		rejectAll: (error) => {
			for (const waiter of waiters) waiter.reject(error);
			waiters.clear();
		},
	};
}
