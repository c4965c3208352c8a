import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { boundText } from "../../src/records/bounded-text.ts";

const linesIn = (text: string) => text.split("\n").length;

describe("boundText", () => {
	test.each([
		["", 10, 10, "", 0],
		["short", 10, 10, "short", 0],
		["exact", 5, 1, "exact", 0],
		["exactly", 5, 1, "exact", 2],
		["a\nb\nc", 100, 2, "a\nb", 2],
		["a\nb\n", 100, 2, "a\nb", 1],
		["a\nb", 100, 2, "a\nb", 0],
		// A line end near the cut is taken, one far from it is not.
		["123456789\nabc", 11, 10, "123456789", 4],
		["1\nabcdefghi", 10, 10, "1\nabcdefgh", 1],
		["ää", 3, 1, "ä", 2],
		["\u{1f600}", 3, 1, "", 4],
		["anything", 0, 1, "", 8],
		["anything", 100, 0, "anything", 0],
	])("%j in %d bytes and %d lines is %j", (text, maxBytes, maxLines, expected, omittedBytes) => {
		expect(boundText(text, { maxBytes, maxLines })).toEqual({ text: expected, omittedBytes });
	});

	test("is within bounds, a prefix, valid, and says how much is missing, whatever the text", () => {
		const unit = fc.constantFrom("a", "\n", "\r\n", "é", "漢", "\u{1f600}", "\ud83d", "\u2028", "\0");
		const text = fc.array(unit, { maxLength: 60 }).map((units) => units.join(""));
		const bound = fc.integer({ min: 1, max: 80 });
		fc.assert(
			fc.property(text, bound, bound, (whole, maxBytes, maxLines) => {
				const bounded = boundText(whole, { maxBytes, maxLines });
				expect(Buffer.byteLength(bounded.text)).toBeLessThanOrEqual(maxBytes);
				expect(linesIn(bounded.text)).toBeLessThanOrEqual(maxLines);
				expect(bounded.text.isWellFormed()).toBe(true);
				expect(whole.toWellFormed().startsWith(bounded.text)).toBe(true);
				expect(bounded.omittedBytes).toBe(Buffer.byteLength(whole.toWellFormed()) - Buffer.byteLength(bounded.text));
			}),
			{ numRuns: 1000 },
		);
	});

	test("of 20 MB without a line end takes no time", () => {
		const start = performance.now();
		expect(boundText("x".repeat(20_000_000), { maxBytes: 1000, maxLines: 10 }).text).toHaveLength(1000);
		expect(performance.now() - start).toBeLessThan(1000);
	});
});
