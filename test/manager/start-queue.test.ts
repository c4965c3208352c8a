import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { StartQueue, startLimits } from "../../src/manager/start-queue.ts";

beforeEach(() => {
	vi.useFakeTimers();
});
afterEach(() => {
	vi.useRealTimers();
});

/** What became of a request for a place, once all that can happen now has happened. */
async function now<T>(promise: Promise<T>): Promise<T | "waiting"> {
	await vi.advanceTimersByTimeAsync(0);
	return Promise.race([promise, Promise.resolve<"waiting">("waiting")]);
}

describe("concurrency", () => {
	test("so many at once, the others in the order they came", async () => {
		const queue = new StartQueue({ concurrency: 2, startGapMs: 0 });
		const [first, second, third, fourth] = [1, 2, 3, 4].map(() => queue.enter(undefined));
		const leaveFirst = await now(first as Promise<() => void>);
		expect(leaveFirst).toBeTypeOf("function");
		expect(await now(second as Promise<() => void>)).toBeTypeOf("function");
		expect(await now(third as Promise<() => void>)).toBe("waiting");
		if (typeof leaveFirst === "function") {
			leaveFirst();
			// A place is given back once, however often it is said.
			leaveFirst();
		}
		expect(await now(third as Promise<() => void>)).toBeTypeOf("function");
		expect(await now(fourth as Promise<() => void>)).toBe("waiting");
	});

	test("one that gives up while it waits had no place and holds up nobody", async () => {
		const queue = new StartQueue({ concurrency: 1, startGapMs: 0 });
		const leave = await queue.enter(undefined);
		const controller = new AbortController();
		const givesUp = queue.enter(controller.signal);
		const next = queue.enter(undefined);
		controller.abort();
		expect(await givesUp).toBeUndefined();
		leave?.();
		expect(await now(next)).toBeTypeOf("function");
	});

	test("one that has given up before it comes gets no place", async () => {
		const queue = new StartQueue({ concurrency: 1, startGapMs: 0 });
		expect(await queue.enter(AbortSignal.abort())).toBeUndefined();
		expect(await queue.enter(undefined)).toBeTypeOf("function");
	});
});

test("starts lie apart, and the first after a pause does not wait", async () => {
	const queue = new StartQueue({ concurrency: 10, startGapMs: 400 });
	expect(await now(queue.enter(undefined))).toBeTypeOf("function");
	const second = queue.enter(undefined);
	const third = queue.enter(undefined);
	expect(await now(second)).toBe("waiting");
	await vi.advanceTimersByTimeAsync(401);
	expect(await now(second)).toBeTypeOf("function");
	expect(await now(third)).toBe("waiting");
	await vi.advanceTimersByTimeAsync(401);
	expect(await now(third)).toBeTypeOf("function");
	await vi.advanceTimersByTimeAsync(1000);
	expect(await now(queue.enter(undefined))).toBeTypeOf("function");
});

test("the limits of this machine: at least one, and what somebody set", () => {
	expect(startLimits(0).concurrency).toBeGreaterThanOrEqual(1);
	expect(startLimits(0).concurrency).toBeLessThanOrEqual(16);
	expect(startLimits(40).concurrency).toBe(40);
	expect(startLimits(0).startGapMs).toBeGreaterThan(0);
});
