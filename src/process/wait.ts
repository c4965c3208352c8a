/** Waits until `promise` settles, at most `ms` milliseconds. @returns whether it settled in time. Leaves no timer. */
export async function settledWithin(promise: Promise<unknown>, ms: number): Promise<boolean> {
	const { promise: timeUp, resolve } = Promise.withResolvers<boolean>();
	const timer = setTimeout(() => resolve(false), ms);
	try {
		return await Promise.race([
			timeUp,
			promise.then(
				() => true,
				() => true,
			),
		]);
	} finally {
		clearTimeout(timer);
	}
}

/** Asks `done` every `everyMs` milliseconds until it says yes, at most `ms`. @returns whether it did. */
export async function polledWithin(done: () => Promise<boolean>, ms: number, everyMs = 25): Promise<boolean> {
	const deadline = performance.now() + ms;
	for (;;) {
		if (await done()) return true;
		const left = deadline - performance.now();
		if (left <= 0) return false;
		await new Promise((resolve) => setTimeout(resolve, Math.min(everyMs, left)));
	}
}
