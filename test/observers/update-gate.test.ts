import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { UpdateGate } from "../../src/observers/update-gate.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

test("the first passes at once, the next after the gap, however many were asked for", () => {
	const notify = vi.fn();
	const gate = new UpdateGate(100, notify);
	gate.request();
	expect(notify).toHaveBeenCalledTimes(1);
	for (let i = 0; i < 50; i++) gate.request();
	vi.advanceTimersByTime(99);
	expect(notify).toHaveBeenCalledTimes(1);
	vi.advanceTimersByTime(1);
	expect(notify).toHaveBeenCalledTimes(2);
	vi.advanceTimersByTime(1000);
	expect(notify).toHaveBeenCalledTimes(2);
});

test("after a pause it passes at once again", () => {
	const notify = vi.fn();
	const gate = new UpdateGate(100, notify);
	gate.request();
	vi.advanceTimersByTime(100);
	gate.request();
	expect(notify).toHaveBeenCalledTimes(2);
	expect(vi.getTimerCount()).toBe(0);
});

test("a request made by the notice itself comes later and does not recurse", () => {
	let passed = 0;
	let depth = 0;
	let deepest = 0;
	const gate = new UpdateGate(100, () => {
		passed++;
		depth++;
		deepest = Math.max(deepest, depth);
		gate.request();
		depth--;
	});
	gate.request();
	vi.advanceTimersByTime(350);
	expect(deepest).toBe(1);
	expect(passed).toBe(4);
	gate.close();
	expect(vi.getTimerCount()).toBe(0);
});

test("nothing passes a closed gate", () => {
	const notify = vi.fn();
	const gate = new UpdateGate(100, notify);
	gate.request();
	gate.request();
	expect(vi.getTimerCount()).toBe(1);
	gate.close();
	expect(vi.getTimerCount()).toBe(0);
	gate.request();
	vi.advanceTimersByTime(1000);
	expect(notify).toHaveBeenCalledTimes(1);
});
