import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { parseRecord } from "../../../src/runtimes/pi/parse-record.ts";

const RECORD = { type: "agent_start", n: 1 };
const LINE = JSON.stringify(RECORD);

describe("B4, B12: a record is found", () => {
	test.each([
		["alone", LINE],
		["after a byte order mark", `\ufeff${LINE}`],
		["after NULs", `\0\0${LINE}`],
		["after a colour code", `\u001b[31m${LINE}`],
		["after a private mode code", `\u001b[?25l${LINE}`],
		["after all of these", `\ufeff\0\u001b[0m${LINE}`],
		["before NULs", `${LINE}\0\0\0`],
		["before spaces", `${LINE}  `],
		["before a lone CR", `${LINE}\r`],
		["after a lone CR", `\r${LINE}`],
		["after other text", `debugger attached ${LINE}`],
		["after half a record", `{"type":"message_up${LINE}`.slice('{"type":"message_up'.length - 3)],
	])("%s", (_where, line) => {
		expect(parseRecord(line)).toEqual({ kind: "record", record: RECORD });
	});

	test("whatever separators stand raw inside of it", () => {
		const record = { type: "x", text: "a\u2028b\u2029c\u0085d" };
		expect(parseRecord(`{"type":"x","text":"a\u2028b\u2029c\u0085d"}`)).toEqual({ kind: "record", record });
	});

	test.each(["", "\ufeff", "\0", "\u001b[0m"])("after %j when its type is not its first key", (junk) => {
		const parsed = parseRecord(`${junk}{"id":"1","type":"response"}`);
		expect(parsed).toEqual({ kind: "record", record: { id: "1", type: "response" } });
	});
});

test.each(["", " ", "\t\r", "\0\0", "\ufeff", "\u001b[0m", "\u001b[2J\u001b[H \0"])("B12: %j is blank", (line) => {
	expect(parseRecord(line)).toEqual({ kind: "blank" });
});

test.each([
	["text", "npm warn something"],
	["a cut record", LINE.slice(0, -1)],
	["a record cut in a string", '{"type":"message_update","delta":"abc'],
	["two records", `${LINE}${LINE}`],
	["a record and text", `${LINE} and more`],
	["a number", "42"],
	["null", "null"],
	["an array", `[${LINE}]`],
	["an object without a type", '{"id":1}'],
	["an object whose type is no text", '{"type":5}'],
	["braces", "{}"],
])("%s is noise", (_what, line) => {
	expect(parseRecord(line)).toEqual({ kind: "noise" });
});

test("a record keeps odd keys to itself", () => {
	const parsed = parseRecord('{"type":"x","__proto__":{"polluted":true}}');
	expect(parsed.kind).toBe("record");
	expect("polluted" in {}).toBe(false);
});

describe("whatever comes,", () => {
	const anyLine = fc.oneof(
		fc.string({ unit: "binary", maxLength: 200 }),
		fc.json(),
		fc.tuple(fc.string({ unit: "binary" }), fc.nat(LINE.length)).map(([junk, cut]) => junk + LINE.slice(cut)),
	);

	test("it does not throw", () => {
		fc.assert(
			fc.property(anyLine, (line) => {
				const parsed = parseRecord(line);
				if (parsed.kind === "record") expect(typeof parsed.record.type).toBe("string");
				else expect(["blank", "noise"]).toContain(parsed.kind);
			}),
		);
	});

	test("a record written by JSON.stringify is read as it was", () => {
		fc.assert(
			fc.property(fc.dictionary(fc.string(), fc.jsonValue()), fc.string(), (fields, type) => {
				const record = JSON.parse(JSON.stringify({ ...fields, type }));
				expect(parseRecord(JSON.stringify(record))).toEqual({ kind: "record", record });
			}),
		);
	});
});
