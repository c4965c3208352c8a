import { expect, test } from "vitest";
import manifest from "../../package.json" with { type: "json" };
import { minimumNode, runsOn } from "../../src/cli/node-version.ts";

test.each([
	["22.19.0", true],
	["22.20.1", true],
	["24.0.0", true],
	["22.18.9", false],
	["20.20.2", false],
	["9.99.0", false],
])("Node.js %s: %s", (version, expected) => {
	expect(runsOn(version)).toBe(expected);
});

test("is what package.json asks for", () => {
	expect(manifest.engines.node).toBe(`>=${minimumNode}.0`);
});
