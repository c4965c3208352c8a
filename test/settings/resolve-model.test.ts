import { expect, test } from "vitest";
import { type Candidates, choose } from "../../src/settings/resolve-model.ts";

const flag = (value?: string) => ({ value, source: "flag" as const });

test.each<[Candidates, string | undefined, string]>([
	[{ explicit: flag("e"), agent: "a", settings: "s", parent: "p" }, "e", "flag"],
	[{ explicit: { value: "e", source: "parameter" }, agent: "a" }, "e", "parameter"],
	[{ explicit: flag(""), agent: "a", settings: "s", parent: "p" }, "a", "agent"],
	[{ explicit: flag(), settings: "s", parent: "p" }, "s", "settings"],
	[{ agent: "", settings: "", parent: "p" }, "p", "parent"],
	[{ explicit: flag(""), agent: "", settings: "", parent: "" }, undefined, "default"],
	[{}, undefined, "default"],
])("of %j it is %j, by %s", (candidates, value, source) => {
	expect(choose(candidates)).toEqual({ value, source });
});
