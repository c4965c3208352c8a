import { writeFile } from "node:fs/promises";
import { homedir } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { AgentDefinition, AgentProblem } from "../../src/agents/agent-definition.ts";
import { type Caller, planRun, RunRefusedError, type RunRequest } from "../../src/manager/prepare-run.ts";
import type { FlightdeckSettings } from "../../src/settings/read-settings.ts";
import { agent } from "../agents/agent-files.ts";
import { tempFolder } from "../support/temp-folder.ts";

interface Given {
	readonly request?: Partial<RunRequest>;
	readonly caller?: Partial<Caller>;
	readonly settings?: Partial<FlightdeckSettings>;
	readonly agent?: Partial<AgentDefinition>;
	readonly problems?: readonly AgentProblem[];
}

function plan(given: Given = {}) {
	return planRun(
		{ agent: "scout", task: "Look", ...given.request },
		{ explicitSource: "parameter", cwd: process.cwd(), depth: 0, ...given.caller },
		{
			catalogue: { agents: [agent({ ...given.agent }), agent({ name: "worker" })], problems: given.problems ?? [] },
			settings: { tools: [], concurrency: 0, maxDepth: 2, ...given.settings },
		},
	);
}

/** Why a request was refused. */
function refusal(given: Given): string {
	try {
		plan(given);
	} catch (error) {
		expect(error).toBeInstanceOf(RunRefusedError);
		return error instanceof Error ? error.message : "";
	}
	return "not refused";
}

test("a plan of a bare request has nothing of its own", () => {
	expect(plan()).toEqual({
		agent: agent(),
		task: "Look",
		cwd: process.cwd(),
		model: { value: undefined, source: "default" },
		thinking: { value: undefined, source: "default" },
		tools: undefined,
		extensions: "none",
		warnings: [],
	});
});

describe("model and thinking level", () => {
	const all: Given = {
		request: { model: "r/1", thinking: "high" },
		agent: { model: "a/1", thinking: "low" },
		settings: { model: "s/1", thinking: "medium" },
		caller: { model: "p/1", thinking: "off" },
	};
	const without = (...names: (keyof Given)[]) =>
		Object.fromEntries(Object.entries(all).filter(([name]) => !names.includes(name as keyof Given)));

	test.each<[Given, string | undefined, string | undefined, string]>([
		[all, "r/1", "high", "parameter"],
		[{ ...all, caller: { ...all.caller, explicitSource: "flag" } }, "r/1", "high", "flag"],
		[{ ...all, request: { model: "", thinking: "" } }, "a/1", "low", "agent"],
		[without("request", "agent"), "s/1", "medium", "settings"],
		[without("request", "agent", "settings"), "p/1", "off", "parent"],
		[{}, undefined, undefined, "default"],
	])("%j", (given, model, thinking, source) => {
		expect(plan(given)).toMatchObject({ model: { value: model, source }, thinking: { value: thinking, source } });
	});

	test("a thinking level that does not exist is refused, wherever it came from", () => {
		const levels = "Use one of: off, minimal, low, medium, high, xhigh, max.";
		expect(refusal({ request: { thinking: "hard" } })).toBe(`"hard" (parameter) is no thinking level. ${levels}`);
		expect(refusal({ settings: { thinking: "Low" } })).toBe(`"Low" (settings) is no thinking level. ${levels}`);
	});

	test("a model that looks like an option is refused", () => {
		expect(refusal({ request: { model: "--help" } })).toBe('"--help" (parameter) is no model. Use provider/id.');
	});

	test("a model of an extension that the child does not load is refused, and the extension's way named", () => {
		const caller = { model: "corp/big", extensionProviders: ["corp"] };
		expect(refusal({ caller })).toBe(
			'The model corp/big (parent) comes from an extension that registers the provider "corp", and the agent loads no extensions. ' +
				"Give another model, or set extensions: inherit (or the extension's path) in the agent file.",
		);
		for (const extensions of ["inherit", ["/corp.ts"]] as const)
			expect(plan({ caller, agent: { extensions } }).model.value).toBe("corp/big");
		expect(plan({ caller, request: { model: "other/1" } }).model.value).toBe("other/1");
	});
});

describe("tools", () => {
	const activeTools = ["read", "bash", "subagent"];
	const knownTools = ["read", "bash", "edit", "subagent"];

	test.each<[string, Given, readonly string[] | undefined, string[]]>([
		["nobody limits them", {}, undefined, []],
		["the agent's, with nobody to compare", { agent: { tools: ["edit", "subagent"] } }, ["edit", "subagent"], []],
		["the parent's without our own", { caller: { activeTools } }, ["read", "bash"], []],
		["the agent's among the parent's", { caller: { activeTools }, agent: { tools: ["bash"] } }, ["bash"], []],
		["none at all", { caller: { activeTools }, agent: { tools: [] } }, [], []],
		["of a parent without any", { caller: { activeTools: [] }, agent: { tools: undefined } }, [], []],
		[
			"no more than the parent has, and that is said",
			{ caller: { activeTools, knownTools }, agent: { tools: ["read", "edit"] } },
			["read"],
			["Not given, since the session does not have them active: edit."],
		],
		[
			"not our own one, even by name",
			{ caller: { activeTools, knownTools }, agent: { tools: ["read", "subagent"] } },
			["read"],
			["Not given, since the session does not have them active: subagent."],
		],
		[
			"less without a word, for a built-in agent, which lists what it can use at best",
			{ caller: { activeTools, knownTools }, agent: { tools: ["read", "edit"], source: "builtin" } },
			["read"],
			[],
		],
		[
			"more, if the user's settings allow it",
			{ caller: { activeTools, knownTools }, agent: { tools: ["read", "edit"] }, settings: { tools: ["edit"] } },
			["read", "edit"],
			[],
		],
		[
			"no more than the agent lists, whatever the settings allow",
			{ caller: { activeTools }, agent: { tools: ["bash"] }, settings: { tools: ["edit"] } },
			["bash"],
			[],
		],
	])("%s", (_what, given, tools, warnings) => {
		expect(plan(given)).toMatchObject({ tools, warnings });
		expect(plan(given).tools).toEqual(tools);
	});

	test("that do not exist are a mistake in the agent file", () => {
		expect(refusal({ caller: { activeTools, knownTools }, agent: { tools: ["read", "raed", "x"] } })).toBe(
			'The agent "scout" (/agents/scout.md) lists tools that do not exist: raed, x. Known: read, bash, edit, subagent.',
		);
	});
});

describe("depth", () => {
	test.each([
		[0, 1],
		[1, 2],
		[4, 5],
	])("%d of %d is allowed", (depth, maxDepth) => {
		expect(plan({ caller: { depth }, settings: { maxDepth } }).task).toBe("Look");
	});

	test.each([
		[0, 0],
		[2, 2],
		[9, 2],
	])("%d of %d is refused", (depth, maxDepth) => {
		expect(refusal({ caller: { depth }, settings: { maxDepth } })).toBe(
			`Agents may be nested ${maxDepth} deep (flightdeck.maxDepth), and this one is at that depth. Do the task yourself.`,
		);
	});
});

describe("the task and the agent", () => {
	test.each(["", " \n\t", "\u2028"])("a task of %j is refused", (task) => {
		expect(refusal({ request: { task } })).toBe("The task is empty. Say what the agent is to do.");
	});

	test("a task is taken as it is", () => {
		for (const task of ["-rf", "@file", "/quit", " padded ", "\u0000"])
			expect(plan({ request: { task } }).task).toBe(task);
	});

	test("an unknown agent is refused with those there are", () => {
		expect(refusal({ request: { agent: "scuot" } })).toBe(
			'Unknown agent "scuot". Did you mean "scout"? Known agents: scout, worker.',
		);
	});

	test("the file that was skipped may be the one that is missed", () => {
		const problems = [
			{ file: "/a/Tester.md", message: "`tools` must be a list" },
			{ file: "/a/other.md", message: "no description" },
		];
		expect(refusal({ request: { agent: "tester" }, problems })).toBe(
			'Unknown agent "tester". Known agents: scout, worker. Skipped /a/Tester.md: `tools` must be a list',
		);
		expect(refusal({ request: { agent: " " }, problems })).toBe('Unknown agent "". Known agents: scout, worker.');
	});
});

describe("the working directory", () => {
	test("is the caller's, or relative to it, or absolute", async () => {
		await using folder = await tempFolder();
		const { path } = folder;
		const parent = join(path, "..");
		const cwd = (given: string | undefined, from = path) =>
			plan({ request: { cwd: given }, caller: { cwd: from } }).cwd;
		expect([cwd(undefined), cwd(""), cwd("."), cwd(path), cwd(".."), cwd(`@${path}`)]).toEqual([
			path,
			path,
			path,
			path,
			parent,
			path,
		]);
		expect(cwd("~")).toBe(homedir());
	});

	test("that is missing or a file is refused", async () => {
		await using folder = await tempFolder();
		const file = join(folder.path, "file");
		await writeFile(file, "");
		const caller = { cwd: folder.path };
		expect(refusal({ caller, request: { cwd: "gone" } })).toBe(
			`The working directory ${join(folder.path, "gone")} does not exist. Give an existing one, or leave cwd out.`,
		);
		expect(refusal({ caller, request: { cwd: "file" } })).toBe(
			`The working directory ${file} is a file. Give a directory, or leave cwd out.`,
		);
		// A tilde is only somebody's home at the start of a path of its own.
		expect(refusal({ caller, request: { cwd: "~other" } })).toContain(join(folder.path, "~other"));
	});

	test.each([
		["holds a NUL", "a\0b"],
		["has too long a name", "n".repeat(5000)],
	])("that %s is refused in the same way, in words that can be shown", (_what, cwd) => {
		const message = refusal({ request: { cwd } });
		expect(message).toMatch(/^The working directory .* cannot be used \(\w+\)\. Give another one, or leave cwd out\.$/);
		expect(message).not.toMatch(/\p{Cc}/u);
		expect(message.length).toBeLessThan(1000);
	});
});
