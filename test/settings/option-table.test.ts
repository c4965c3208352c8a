import { expect, test } from "vitest";
import { flagName, optionsOf, RUN_OPTIONS } from "../../src/settings/option-table.ts";

test.each([
	["parameter", ["agent", "task", "model", "thinking", "cwd"]],
	["flag", ["model", "thinking", "cwd"]],
	["settings", ["model", "thinking", "tools", "concurrency", "maxDepth"]],
] as const)("a %s may be %j", (surface, names) => {
	expect(optionsOf(surface)).toEqual(names);
});

test("a flag is written with dashes", () => {
	expect([flagName("maxDepth"), flagName("model")]).toEqual(["max-depth", "model"]);
});

test("every option has an off value of its kind, and a description", () => {
	const offValues = { string: "", names: [], integer: expect.any(Number) };
	for (const { kind, off, description } of Object.values(RUN_OPTIONS)) {
		expect(off).toEqual(offValues[kind]);
		expect(description).not.toBe("");
	}
});
