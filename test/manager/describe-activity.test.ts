import { describe, expect, test } from "vitest";
import {
	describeActivity,
	describeCounters,
	describeTool,
	printableLine,
} from "../../src/manager/describe-activity.ts";
import { type AgentActivity, createActivity } from "../../src/observers/index.ts";
import { NO_USAGE } from "../../src/observers/usage.ts";

const HOSTILE = "\u001b[2J\u001b]0;title\u0007a\r\nb\u202e\u0000c\u009b31m\ud83d";

describe("printableLine", () => {
	test.each([
		["plain", "plain"],
		["two\nlines\r\n  and\ttabs", "two lines and tabs"],
		["\u001b[31mred\u001b[0m", "red"],
		["\u001b]8;;http://evil\u0007link\u001b]8;;\u0007", "link"],
		["right\u202eleft", "right left"],
		["nul\0bell\u0007", "nul bell"],
		["lone \ud83d half", "lone \ufffd half"],
		["\u{1f469}\u200d\u{1f4bb}", "\u{1f469}\u200d\u{1f4bb}"],
		["", ""],
	])("of %j is %j", (text, expected) => {
		expect(printableLine(text)).toBe(expected);
	});

	test("is of one line, without control characters and at most 160 bytes, whatever it is made of", () => {
		for (const text of [HOSTILE, HOSTILE.repeat(1000), "漢".repeat(1000), "\n".repeat(1000)]) {
			const line = printableLine(text);
			expect(line).not.toMatch(/[\p{Cc}\u2028\u2029\u202e]/u);
			expect(Buffer.byteLength(line)).toBeLessThanOrEqual(160);
			expect(line.isWellFormed()).toBe(true);
		}
	});
});

describe("describeTool", () => {
	test.each([
		["bash", { command: "npm test" }, "bash npm test"],
		["bash", { timeout: 5, command: "a\nb" }, "bash a b"],
		["read", { path: "src/index.ts", limit: 5 }, "read src/index.ts"],
		["grep", { pattern: "x", path: "src" }, "grep src"],
		["fetch", { url: "http://x" }, "fetch http://x"],
		["odd", { n: 1 }, 'odd {"n":1}'],
		["odd", { command: 5 }, 'odd {"command":5}'],
		["odd", undefined, "odd"],
		["odd", null, "odd"],
		["odd", "text", "odd"],
		["\u001b[31mred", {}, "red {}"],
	])("%s %j is %j", (name, args, expected) => {
		expect(describeTool(name, args)).toBe(expected);
	});
});

describe("describeActivity", () => {
	const activity = (changes: Partial<AgentActivity>): AgentActivity => ({ ...createActivity(), ...changes });
	const tool = (name: string, command: string) => ({ name, args: { command }, startedAt: 0 });

	test.each<[Partial<AgentActivity>, string]>([
		[{}, "starting"],
		[{ phase: "thinking", text: "old" }, "thinking"],
		[{ phase: "writing", text: "one\ntwo\n\n" }, "two"],
		[{ phase: "writing", text: "" }, "writing"],
		[{ phase: "writing", text: " \n" }, "writing"],
		[{ phase: "retrying", note: "500: down\nplease wait" }, "retrying after: 500: down please wait"],
		[{ phase: "settled", text: "The end." }, "settled"],
		[
			{
				phase: "waiting",
				activeTools: new Map([
					["1", tool("bash", "ls")],
					["2", tool("read", "x")],
				]),
			},
			"bash ls · read x",
		],
	])("%j is %j", (changes, expected) => {
		expect(describeActivity(activity(changes))).toBe(expected);
	});

	test("cannot be made to draw anywhere else", () => {
		for (const changes of [
			{ phase: "writing", text: HOSTILE },
			{ phase: "retrying", note: HOSTILE },
			{ phase: "waiting", activeTools: new Map([["1", tool(HOSTILE, HOSTILE)]]) },
		] as const)
			expect(describeActivity(activity(changes))).not.toMatch(/[\p{Cc}\u202e]/u);
	});
});

describe("describeCounters", () => {
	const usage = { ...NO_USAGE, known: true, input: 12_345, output: 1200, cost: { ...NO_USAGE.cost, total: 0.0123 } };

	test.each([
		[{ turns: 0, toolUses: 0, lifetimeUsage: NO_USAGE }, "0 turns"],
		[{ turns: 1, toolUses: 1, lifetimeUsage: NO_USAGE }, "1 turn · 1 tool use"],
		[{ turns: 3, toolUses: 5, lifetimeUsage: usage }, "3 turns · 5 tool uses · ↑12.3k ↓1.2k · $0.0123"],
		[
			{ turns: 3, toolUses: 0, lifetimeUsage: { ...usage, cacheRead: 40_000, cacheWrite: 7 } },
			"3 turns · ↑12.3k ↓1.2k R40.0k W7 · $0.0123",
		],
	])("%j is %j", (record, expected) => {
		expect(describeCounters(record)).toBe(expected);
	});
});
