import type { ExtensionAPI } from "@earendil-works/pi-coding-agent";
import { expect, test } from "vitest";
import { subagentTool } from "../../src/extension/subagent-tool.ts";
import { optionsOf, RUN_OPTIONS } from "../../src/settings/option-table.ts";

const neverCalled = (): never => {
	throw new Error("not while a tool is only declared");
};

function declare() {
	const settings = { tools: [], concurrency: 0, maxDepth: 2 };
	const known = { catalogue: { agents: [], problems: [] }, settings, problems: [] };
	// Declaring reads nothing of pi's interface.
	return subagentTool(known, { pi: {} as ExtensionAPI, manager: neverCalled, load: neverCalled });
}

test("the tool offers the parameters of the option table, described in its words", () => {
	const { parameters } = declare();
	expect(Object.keys(parameters.properties)).toEqual(optionsOf("parameter"));
	for (const name of optionsOf("parameter"))
		expect(parameters.properties[name as keyof typeof parameters.properties].description).toBe(
			RUN_OPTIONS[name].description,
		);
	expect(parameters.required).toEqual(["agent", "task"]);
});

test("J15: the schema is flat, without unions or constants that providers reject", () => {
	const schema = JSON.stringify(declare().parameters);
	expect(schema).not.toMatch(/anyOf|oneOf|allOf|const|\$ref|patternProperties/);
});

test("scripts cannot call it", () => {
	expect(declare().exposure).toBe("model-only");
});
