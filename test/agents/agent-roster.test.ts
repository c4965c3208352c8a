import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { formatRoster } from "../../src/agents/agent-roster.ts";
import { cutToBytes } from "../../src/agents/one-line.ts";

const of = (...pairs: [name: string, description: string][]) =>
	pairs.map(([name, description]) => ({ name, description }));

const team = of(
	["scout", "Finds things in the code."],
	["planner", "Makes plans"],
	["worker", "Does the work"],
	["reviewer", "Reviews it"],
);

describe("formatRoster", () => {
	test.each([
		[450, "scout (Finds things in the code), planner (Makes plans), worker (Does the work), reviewer (Reviews it)"],
		[80, "scout (Finds things in the code), planner (Makes plans), worker, reviewer"],
		[32, "scout, planner, worker, reviewer"],
		[31, "scout, planner, worker, +1 more"],
		[24, "scout, planner, +2 more"],
		[14, "scout, +3 more"],
		[13, "+4 more"],
		[6, ""],
		[0, ""],
		[-1, ""],
	])("in %i bytes", (maxBytes, roster) => {
		expect(formatRoster(team, maxBytes)).toBe(roster);
	});

	test("of nobody is empty", () => {
		expect(formatRoster([])).toBe("");
	});

	test("a name alone, if there is nothing to say of it", () => {
		expect(formatRoster(of(["a", ""], ["b", " \n "], ["c", "d"]))).toBe("a, b, c (d)");
	});

	test("is one line of visible characters", () => {
		const hostile = of(["a\u202e\nb", "one\r\n\ttwo\u001b[2J\u2028three\0\u{e0041}"], ["c", "👩‍👧 family"]);
		expect(formatRoster(hostile)).toBe("a b (one two [2J three), c (👩‍👧 family)");
	});

	test("cuts between graphemes and counts bytes", () => {
		const flags = of(["a", "🇩🇪".repeat(20)]);
		expect(formatRoster(flags, 30)).toBe(`a (${"🇩🇪".repeat(2)}…)`);
		expect(formatRoster(of(["a", `e${"\u0301".repeat(300)} rest`]), 100)).toBe("a");
	});

	test("names every one of 24 agents within 450 bytes, with descriptions as far as they go", () => {
		const many = Array.from({ length: 24 }, (_, i) => ({
			name: `agent-${i}`,
			description: `Number ${i} does one thing, and does it rather well`,
		}));
		const roster = formatRoster(many);
		expect(Buffer.byteLength(roster)).toBeLessThanOrEqual(450);
		for (const { name } of many) expect(roster).toContain(name);
		expect(roster).toContain("agent-0 (Number 0 does one thi…)");
		expect(roster).not.toContain("more");
	});

	test("shares room fairly: what short descriptions leave goes to the long ones", () => {
		const roster = formatRoster(of(["a", "short"], ["b", "x".repeat(200)], ["c", "y".repeat(200)]), 200);
		expect(roster).toMatch(/^a \(short\), b \(x{70,}…\), c \(y{70,}…\)$/);
	});

	test("never exceeds its limit, never breaks a line, and is stable", () => {
		const text = fc.string({
			unit: fc.constantFrom("a", "é", "€", "👩‍👧", "\u0301", "\n", "\ud800", "\u202e", " ", "(", ","),
		});
		const agents = fc.array(fc.record({ name: text, description: text }), { maxLength: 40 });
		fc.assert(
			fc.property(agents, fc.integer({ min: 0, max: 600 }), (list, maxBytes) => {
				const roster = formatRoster(list, maxBytes);
				expect(Buffer.byteLength(roster)).toBeLessThanOrEqual(maxBytes);
				expect(roster).not.toMatch(/[\n\u202e\ufffd]/);
				expect(roster.isWellFormed()).toBe(true);
				expect(formatRoster(list, maxBytes)).toBe(roster);
			}),
			{ numRuns: 1000 },
		);
	});
});

test.each([
	["abc", 3, "abc"],
	["abcd", 3, ""],
	["abcde", 4, "a…"],
	["ab cde", 6, "ab cde"],
	["ab cdef", 6, "ab…"],
	["€€", 5, ""],
	["€€€", 6, "€…"],
	["a", 0, ""],
])("%j in %i bytes is %j", (text, maxBytes, cut) => {
	expect(cutToBytes(text, maxBytes)).toBe(cut);
});
