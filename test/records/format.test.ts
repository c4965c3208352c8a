import { describe, expect, test } from "vitest";
import { formatCost, formatCount, formatDuration, formatNumber } from "../../src/records/format.ts";
import { formatHeader } from "../../src/records/header.ts";
import { RUN_ID } from "./descriptions.ts";

describe("formatCount", () => {
	test.each([
		[0, "0"],
		[999, "999"],
		[1000, "1.0k"],
		[12_345, "12.3k"],
		[999_949, "999.9k"],
		[999_950, "1.0M"],
		[4_500_000, "4.5M"],
		[1.5, "2"],
	])("%d is %s", (count, expected) => {
		expect(formatCount(count)).toBe(expected);
	});
});

describe("formatCost", () => {
	test.each([
		[0, "$0.0000"],
		[0.0123, "$0.0123"],
		[0.99, "$0.9900"],
		[1, "$1.00"],
		[12.345, "$12.35"],
	])("%d is %s", (dollars, expected) => {
		expect(formatCost(dollars)).toBe(expected);
	});
});

describe("formatDuration", () => {
	test.each([
		[0, "0ms"],
		[340.4, "340ms"],
		[1000, "1.0s"],
		[4100, "4.1s"],
		[59_949, "59.9s"],
		[59_950, "1m 00s"],
		[185_000, "3m 05s"],
		[3_599_400, "59m 59s"],
		[3_599_500, "1h 00m"],
		[7_620_000, "2h 07m"],
	])("%d ms is %s", (ms, expected) => {
		expect(formatDuration(ms)).toBe(expected);
	});
});

test.each([
	[0, "0 turns"],
	[1, "1 turn"],
	[2, "2 turns"],
])("formatNumber(%d)", (count, expected) => {
	expect(formatNumber(count, "turn")).toBe(expected);
});

test("the header has two lines, without escape codes", () => {
	const header = formatHeader({ version: "1.2.3", root: "/pkg" }, RUN_ID, "scout", {
		value: "mock/m1",
		source: "flag",
	});
	expect(header.split("\n")).toEqual([
		`pi-flightdeck v1.2.3 (/pkg) · node ${process.version} · ${process.platform}-${process.arch}`,
		"run deadbeef · scout · model mock/m1 (via flag)",
	]);
	expect(formatHeader({ version: "1", root: "/" }, RUN_ID, "a", { value: undefined, source: "default" })).toMatch(
		/ · model pi's default$/,
	);
});
