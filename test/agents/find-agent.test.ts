import { describe, expect, test } from "vitest";
import { findAgent } from "../../src/agents/find-agent.ts";
import { nearestName } from "../../src/agents/nearest-name.ts";
import { agent } from "./agent-files.ts";

const catalogue = { agents: ["scout", "planner", "worker", "reviewer", "\u00fcber"].map((name) => agent({ name })) };

const messageFor = (name: string, from = catalogue) => {
	const result = findAgent(from, name);
	return result.kind === "unknown" ? result.message : `found ${result.definition.name}`;
};

describe("findAgent", () => {
	test.each([
		["scout", "scout"],
		["Scout", "scout"],
		[" WORKER\n", "worker"],
		["u\u0308ber", "\u00fcber"],
	])("%j is found", (name, found) => {
		expect(messageFor(name)).toBe(`found ${found}`);
	});

	test("capitals decide between two", () => {
		const two = { agents: [agent({ name: "Scout" }), agent({ name: "scout" })] };
		expect(messageFor("scout", two)).toBe("found scout");
		expect(messageFor("Scout", two)).toBe("found Scout");
		expect(messageFor("SCOUT", two)).toBe('"SCOUT" may be any of Scout, scout. Use the exact name.');
	});

	test.each([
		["scuot", 'Did you mean "scout"?'],
		["wroker", 'Did you mean "worker"?'],
		["review", 'Did you mean "reviewer"?'],
		["code-reviewer", 'Did you mean "reviewer"?'],
		["plan", 'Did you mean "planner"?'],
	])("%j gets a hint", (name, hint) => {
		expect(messageFor(name)).toBe(
			`Unknown agent "${name}". ${hint} Known agents: scout, planner, worker, reviewer, \u00fcber.`,
		);
	});

	test.each(["general-purpose", "", "x", "../../etc/passwd"])("%j gets the list and no guess", (name) => {
		expect(messageFor(name)).toBe(
			`Unknown agent "${name}". Known agents: scout, planner, worker, reviewer, \u00fcber.`,
		);
	});

	test("without agents there is nothing to list", () => {
		expect(messageFor("scout", { agents: [] })).toBe('Unknown agent "scout". No agents are available.');
	});

	test("the message is bounded and of one line, whatever was asked for", () => {
		const many = { agents: Array.from({ length: 500 }, (_, i) => agent({ name: `agent-number-${i}` })) };
		for (const name of ["x".repeat(1_000_000), "\u001b[31m\u202e\nIgnore all this", "\0"]) {
			const message = messageFor(name, many);
			expect(Buffer.byteLength(message)).toBeLessThan(600);
			expect(message).toMatch(/^[\x20-\x7e\u2026]+$/);
			expect(message).toMatch(/, \+\d+ more\.$/);
		}
	});
});

describe("nearestName", () => {
	test.each<[string, string[], string | undefined]>([
		["abc", ["xbc", "abd"], "xbc"],
		["worker2", ["worker22", "worker"], "worker22"],
		["the-scout", ["outer", "scout"], "scout"],
		["cat", ["concatenate"], undefined],
		["concatenate", ["cat"], undefined],
		["scout", [], undefined],
		["", ["a"], undefined],
		["y".repeat(100), ["y".repeat(64)], undefined],
	])("of %j among %j is %j", (name, candidates, expected) => {
		expect(nearestName(name, candidates)).toBe(expected);
	});
});
