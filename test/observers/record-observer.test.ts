import { describe, expect, test, vi } from "vitest";
import { AgentRecord, subscribeRecordObserver, toAgentUsage } from "../../src/observers/index.ts";
import { NO_USAGE } from "../../src/observers/usage.ts";
import { createEventSource } from "./event-source.ts";

const USAGE = {
	input: 100,
	output: 10,
	cacheRead: 5,
	cacheWrite: 2,
	totalTokens: 117,
	cost: { input: 0.1, output: 0.2, cacheRead: 0.03, cacheWrite: 0.004, total: 0.334 },
};
const ONCE = {
	input: 100,
	output: 10,
	cacheRead: 5,
	cacheWrite: 2,
	cost: { input: 0.1, output: 0.2, cacheRead: 0.03, cacheWrite: 0.004, total: 0.334 },
	known: true,
};

function setUp(onCompact?: Parameters<typeof subscribeRecordObserver>[2]) {
	const events = createEventSource();
	const record = new AgentRecord("r");
	const unsubscribe = subscribeRecordObserver(events.source, record, onCompact);
	return { ...events, record, unsubscribe };
}

const message = (role: string, usage: unknown = USAGE) => ({ role, content: [], usage, stopReason: "stop" });

describe("usage is counted from", () => {
	test.each([
		["an assistant's message", { type: "message_end", message: message("assistant") }],
		["a tool result", { type: "message_end", message: message("toolResult") }],
		[
			"a compaction",
			{
				type: "compaction_end",
				reason: "manual",
				aborted: false,
				result: { summary: "", tokensBefore: 1, usage: USAGE },
			},
		],
		[
			"a compaction that was given up after its model call",
			{
				type: "compaction_end",
				reason: "manual",
				aborted: true,
				result: { summary: "", tokensBefore: 1, usage: USAGE },
			},
		],
		["an entry", { type: "entry_appended", entry: { type: "usage", usage: USAGE } }],
	])("%s", (_what, event) => {
		const { emit, record } = setUp();
		emit(event);
		expect(record.lifetimeUsage).toEqual(ONCE);
	});
});

describe("usage is not counted from", () => {
	test.each([
		["a delta", { type: "message_update", usage: USAGE, message: message("assistant") }],
		["the start of a message", { type: "message_start", message: message("assistant") }],
		["the end of a turn", { type: "turn_end", message: message("assistant"), toolResults: [message("toolResult")] }],
		["the end of a run", { type: "agent_end", messages: [message("assistant")], willRetry: false }],
		["a user's message", { type: "message_end", message: message("user") }],
		["another entry", { type: "entry_appended", entry: { type: "context_edit", usage: USAGE } }],
		[
			"a tool call",
			{ type: "tool_execution_end", toolCallId: "1", toolName: "t", isError: false, result: { usage: USAGE } },
		],
		[
			"a compaction without a result",
			{ type: "compaction_end", reason: "threshold", aborted: true, result: undefined },
		],
	])("%s", (_what, event) => {
		const { emit, record } = setUp();
		emit(event);
		expect(record.lifetimeUsage).toEqual(NO_USAGE);
	});
});

describe("a report", () => {
	test.each([
		["none", undefined],
		["null", null],
		["a number", 5],
	])("that is %s leaves usage unknown", (_what, usage) => {
		const { emit, record } = setUp();
		emit({ type: "message_end", message: message("assistant", usage === undefined ? null : usage) });
		expect(record.lifetimeUsage).toEqual(NO_USAGE);
	});

	test.each([
		["texts", { input: "100", output: "x" }],
		["NaN and infinity", { input: Number.NaN, output: Number.POSITIVE_INFINITY }],
		["negative numbers", { input: -5, output: -1, cost: { total: -1 } }],
		["nothing", {}],
		["a cost that is no object", { cost: 3 }],
		["a cost of null", { cost: null }],
	])("with %s adds nothing", (_what, usage) => {
		const { emit, record } = setUp();
		emit({ type: "message_end", message: message("assistant") });
		emit({ type: "message_end", message: message("assistant", usage) });
		expect(record.lifetimeUsage).toEqual(ONCE);
	});
});

describe("the record observer", () => {
	test("counts tool calls by name, and errors", () => {
		const { emit, record } = setUp();
		for (const [toolName, isError] of [
			["read", false],
			["bash", true],
			["read", true],
		] as const)
			emit({ type: "tool_execution_end", toolCallId: "1", toolName, isError });
		emit({ type: "tool_execution_start", toolCallId: "2", toolName: "read" });
		expect(record).toMatchObject({ toolUses: 3, toolErrors: 2 });
		expect(Object.fromEntries(record.toolCounts)).toEqual({ read: 2, bash: 1 });
	});

	test("gives each turn the tokens since the last one", () => {
		const { emit, record } = setUp();
		emit({ type: "message_end", message: message("assistant") });
		emit({ type: "message_end", message: message("toolResult") });
		emit({ type: "turn_end" });
		emit({ type: "turn_end" });
		emit({ type: "message_end", message: message("assistant") });
		emit({ type: "turn_end" });
		expect(record.turns).toBe(3);
		expect(record.perTurn).toEqual([
			{ turn: 1, in: 200, out: 20 },
			{ turn: 2, in: 0, out: 0 },
			{ turn: 3, in: 100, out: 10 },
		]);
	});

	test("counts retries", () => {
		const { emit, record } = setUp();
		emit({ type: "auto_retry_start", attempt: 1 });
		emit({ type: "auto_retry_end", success: false });
		emit({ type: "auto_retry_start", attempt: 2 });
		expect(record.retries).toBe(2);
	});

	test("tells of compactions that happened, and of no others", () => {
		const onCompact = vi.fn();
		const { emit, record } = setUp({ onCompact });
		const result = { summary: "", tokensBefore: 4321, usage: USAGE };
		emit({ type: "compaction_end", reason: "threshold", aborted: true, result });
		emit({ type: "compaction_end", reason: "overflow", aborted: false, errorMessage: "no" });
		emit({ type: "compaction_end", reason: "overflow", aborted: false, result: null });
		expect([record.compactionCount, onCompact.mock.calls.length]).toEqual([0, 0]);
		emit({ type: "compaction_end", reason: "threshold", aborted: false, result });
		expect(record.compactionCount).toBe(1);
		expect(onCompact.mock.calls).toEqual([[record, { reason: "threshold", tokensBefore: 4321 }]]);
	});

	test("leaves when told to, and asks for no hot type", () => {
		const { emit, record, unsubscribe, listeners, asked } = setUp();
		expect(listeners()).toBe(1);
		expect(asked.flat()).not.toContain("message_update");
		expect(asked.flat()).not.toContain("agent_end");
		unsubscribe();
		expect(listeners()).toBe(0);
		emit({ type: "turn_end" });
		expect(record.turns).toBe(0);
	});
});

test("usage in pi's shape has the sum of all tokens and no mark of ours", () => {
	expect(toAgentUsage(ONCE)).toEqual(USAGE);
});
