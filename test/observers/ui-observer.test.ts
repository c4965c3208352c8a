import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { createActivity, subscribeUIObserver } from "../../src/observers/index.ts";
import { createEventSource, textDelta } from "./event-source.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

function setUp() {
	const events = createEventSource();
	const activity = createActivity();
	const updates: { at: number; text: string }[] = [];
	const unsubscribe = subscribeUIObserver(events.source, activity, () =>
		updates.push({ at: performance.now(), text: activity.text }),
	);
	return { ...events, activity, updates, unsubscribe };
}

describe("updates", () => {
	test("of a burst of 10,000 deltas are at most 30 a second, and the last change is among them", () => {
		const { emit, updates, activity } = setUp();
		for (let i = 0; i < 10_000; i++) {
			emit(textDelta(`${i} `));
			if (i % 5 === 0) vi.advanceTimersByTime(1);
		}
		vi.advanceTimersByTime(1000);

		// The burst took 2 s.
		expect(updates.length).toBeGreaterThan(50);
		const inTheSecondFrom = (start: number) => updates.filter(({ at }) => at >= start && at < start + 1000).length;
		expect(Math.max(...updates.map(({ at }) => inTheSecondFrom(at)))).toBeLessThanOrEqual(30);
		expect(updates.at(-1)?.text.endsWith("9998 9999 ")).toBe(true);
		expect(activity.phase).toBe("writing");
		expect(vi.getTimerCount()).toBe(0);
	});

	test("of a burst in one tick are two, and memory holds a few hundred deltas", () => {
		const { emit, updates } = setUp();
		let decoded = 0;
		for (let i = 0; i < 10_000; i++)
			emit({
				type: "message_update",
				get assistantMessageEvent() {
					decoded++;
					return { type: "text_delta", contentIndex: 0, delta: `${i} ` };
				},
			});
		vi.advanceTimersByTime(1000);

		expect(updates).toHaveLength(2);
		expect(updates[1]?.text.endsWith("9998 9999 ")).toBe(true);
		expect(decoded).toBeLessThanOrEqual(513);
	});

	test("are not asked for by events that change nothing", () => {
		const { emit, updates } = setUp();
		emit({ type: "message_start", message: { role: "assistant" } });
		emit({ type: "queue_update" });
		vi.advanceTimersByTime(1000);
		expect(updates).toEqual([]);
	});

	test("end with the subscription, and so does its timer", () => {
		const { emit, updates, unsubscribe, listeners } = setUp();
		emit(textDelta("a"));
		emit(textDelta("b"));
		expect(vi.getTimerCount()).toBe(1);
		unsubscribe();
		expect([vi.getTimerCount(), listeners()]).toEqual([0, 0]);
		vi.advanceTimersByTime(1000);
		expect(updates).toHaveLength(1);
	});
});

describe("the text", () => {
	test("joins a surrogate pair that came in two deltas", () => {
		const { emit, activity } = setUp();
		emit(textDelta("x\ud83d"));
		emit(textDelta("\udc69"));
		vi.advanceTimersByTime(100);
		expect(activity.text).toBe("x\u{1f469}");
	});

	test("keeps its end", () => {
		const { emit, activity } = setUp();
		emit(textDelta(`${"a".repeat(5000)}end`));
		expect(activity.text).toHaveLength(4000);
		expect(activity.text.endsWith("aend")).toBe(true);
	});

	test("starts anew with a turn; thinking is not part of it", () => {
		const { emit, activity } = setUp();
		emit(textDelta("old"));
		emit({ type: "turn_start" });
		expect(activity).toMatchObject({ text: "", phase: "waiting" });
		emit({ type: "message_update", assistantMessageEvent: { type: "thinking_delta", contentIndex: 0, delta: "hm" } });
		vi.advanceTimersByTime(100);
		expect(activity).toMatchObject({ text: "", phase: "thinking" });
	});

	test("stays, and what happened after it is what the child does", () => {
		const { emit, activity } = setUp();
		emit(textDelta("a"));
		emit(textDelta("b"));
		emit({ type: "message_end", message: { role: "assistant" } });
		vi.advanceTimersByTime(100);
		expect(activity).toMatchObject({ text: "ab", phase: "waiting" });
	});
});

describe("tools", () => {
	const start = (toolCallId: string, toolName = "bash") => ({
		type: "tool_execution_start",
		toolCallId,
		toolName,
		args: { command: toolCallId },
	});
	const end = (toolCallId: string, isError = false, toolName = "bash") => ({
		type: "tool_execution_end",
		toolCallId,
		toolName,
		isError,
	});

	test("are active by their id until they end", () => {
		vi.setSystemTime(5000);
		const { emit, activity } = setUp();
		emit(start("1"));
		emit(start("2"));
		expect([...activity.activeTools.keys()]).toEqual(["1", "2"]);
		vi.setSystemTime(6000);
		emit(end("1", true));
		expect([...activity.activeTools.keys()]).toEqual(["2"]);
		expect(activity.recentTools).toEqual([{ name: "bash", args: { command: "1" }, startedAt: 5000, isError: true }]);
	});

	test("that end without a start are noted too", () => {
		const { emit, activity } = setUp();
		emit(end("1", true, "nope"));
		expect(activity.recentTools).toMatchObject([{ name: "nope", args: undefined, isError: true }]);
	});

	test("finished are kept up to 20", () => {
		const { emit, activity } = setUp();
		for (let i = 0; i < 25; i++) emit(end(String(i), false, `t${i}`));
		expect(activity.recentTools.map(({ name }) => name)).toEqual(Array.from({ length: 20 }, (_, i) => `t${i + 5}`));
	});

	test("are none when the child has settled", () => {
		const { emit, activity } = setUp();
		emit(start("1"));
		emit({ type: "agent_settled", aborted: true });
		expect(activity).toMatchObject({ phase: "settled", activeTools: new Map() });
	});
});

test.each([
	[
		{ type: "auto_retry_start", errorMessage: "500: down" },
		{ phase: "retrying", note: "500: down" },
	],
	[{ type: "compaction_start", reason: "threshold" }, { phase: "compacting" }],
	[{ type: "compaction_end", reason: "threshold" }, { phase: "waiting" }],
	[{ type: "agent_settled", aborted: false }, { phase: "settled" }],
])("after %j it is %j", (event, expected) => {
	const { emit, activity } = setUp();
	emit(event);
	expect(activity).toMatchObject(expected);
});

test("the note about a retry is gone with the next turn", () => {
	const { emit, activity } = setUp();
	emit({ type: "auto_retry_start", errorMessage: "500" });
	emit({ type: "turn_start" });
	expect(activity).toMatchObject({ phase: "waiting", note: "" });
});

test("deltas that lie before what can be shown are never decoded", () => {
	const { emit, activity } = setUp();
	emit(textDelta("first "));
	let decoded = 0;
	for (let i = 0; i < 400; i++)
		emit({
			type: "message_update",
			get assistantMessageEvent() {
				decoded++;
				return { type: "text_delta", contentIndex: 0, delta: String(i % 10).repeat(100) };
			},
		});
	vi.advanceTimersByTime(1000);

	// 4,000 characters are kept: the last forty of a hundred each.
	expect(decoded).toBe(40);
	expect(activity.text).toHaveLength(4000);
	expect(activity.text.startsWith("0".repeat(100))).toBe(true);
	expect(activity.text.endsWith("9".repeat(100))).toBe(true);
});
