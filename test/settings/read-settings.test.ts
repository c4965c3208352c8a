import { mkdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import { readSettings } from "../../src/settings/read-settings.ts";
import { tempFolder } from "../support/temp-folder.ts";

/** Reads settings from files with these contents: objects as JSON, texts as they are, undefined for no file. */
async function read(user: unknown, project?: unknown, projectTrusted = true) {
	await using folder = await tempFolder();
	const [agentDir, cwd] = [join(folder.path, "agent"), join(folder.path, "project")];
	const files = { user: join(agentDir, "settings.json"), project: join(cwd, ".pi", "settings.json") };
	for (const [file, content] of [
		[files.user, user],
		[files.project, project],
	] as const) {
		await mkdir(dirname(file), { recursive: true });
		if (content !== undefined) await writeFile(file, typeof content === "string" ? content : JSON.stringify(content));
	}
	const { settings, problems } = await readSettings({ agentDir, cwd, projectTrusted });
	return {
		settings,
		problems: problems.map(({ file, message }) => [file === files.user ? "user" : "project", message]),
	};
}

/** What is in force without any settings. */
const DEFAULTS = { tools: [], concurrency: 0, maxDepth: 2 };

const deck = (flightdeck: unknown) => ({ theme: "dark", flightdeck });

describe("settings", () => {
	test("without files are the defaults", async () => {
		expect(await read(undefined)).toEqual({ settings: DEFAULTS, problems: [] });
	});

	test("without a section are the defaults", async () => {
		expect(await read({ theme: "dark" }, {})).toEqual({ settings: DEFAULTS, problems: [] });
	});

	test("of the project go before the user's, one by one", async () => {
		const user = deck({ model: "u/1", thinking: "low" });
		expect((await read(user, deck({ model: "p/1" }))).settings).toEqual({
			...DEFAULTS,
			model: "p/1",
			thinking: "low",
		});
	});

	test("of a project that is not trusted are not even looked at", async () => {
		const user = deck({ model: "u/1" });
		for (const project of [deck({ model: "p/1", maxDepth: 1, nonsense: 1 }), "{ not JSON"])
			expect(await read(user, project, false)).toEqual({ settings: { ...DEFAULTS, model: "u/1" }, problems: [] });
	});

	test("that are empty count as not given", async () => {
		const { settings } = await read(deck({ model: "u/1", thinking: "" }), deck({ model: "" }));
		expect(settings).toEqual({ ...DEFAULTS, model: "u/1" });
	});
});

describe("tools", () => {
	test.each([
		[["read"], undefined, ["read"]],
		[undefined, ["bash"], []],
		[["read"], ["bash"], ["read"]],
		[["read"], [], ["read"]],
	])("of a user's %j and a project's %j are %j: a project cannot allow any", async (user, project, expected) => {
		const { settings, problems } = await read(deck({ tools: user }), deck({ tools: project }));
		expect([settings.tools, problems]).toEqual([expected, []]);
	});
});

test("concurrency is the user's alone", async () => {
	const { settings } = await read(deck({ concurrency: 3 }), deck({ concurrency: 50 }));
	expect(settings.concurrency).toBe(3);
});

describe("maxDepth", () => {
	test.each([
		[undefined, undefined, 2],
		[5, undefined, 5],
		[0, undefined, 0],
		[undefined, 1, 1],
		[undefined, 99, 2],
		[1, 99, 1],
		[4, 3, 3],
		[4, 0, 0],
	])("of a user's %s and a project's %s is %d: a project cannot raise it", async (user, project, expected) => {
		const { settings, problems } = await read(deck({ maxDepth: user }), deck({ maxDepth: project }));
		expect([settings.maxDepth, problems]).toEqual([expected, []]);
	});
});

describe("what is wrong is left out and reported:", () => {
	test.each([
		[{ modle: "x" }, "flightdeck.modle is no setting. Known: model, thinking, tools, concurrency, maxDepth."],
		[{ agent: "x" }, "flightdeck.agent is no setting. Known: model, thinking, tools, concurrency, maxDepth."],
		[{ model: 5 }, "flightdeck.model must be a text."],
		[{ thinking: null }, "flightdeck.thinking must be a text."],
		[{ tools: "read" }, "flightdeck.tools must be a list of names."],
		[{ tools: ["read", 5] }, "flightdeck.tools must be a list of names."],
		[{ tools: null }, "flightdeck.tools must be a list of names."],
		[{ maxDepth: "3" }, "flightdeck.maxDepth must be a whole number from 0 on."],
		[{ maxDepth: -1 }, "flightdeck.maxDepth must be a whole number from 0 on."],
		[{ maxDepth: 1.5 }, "flightdeck.maxDepth must be a whole number from 0 on."],
		[{ maxDepth: null }, "flightdeck.maxDepth must be a whole number from 0 on."],
	])("%j", async (section, message) => {
		expect(await read(deck({ ...section, ...("model" in section ? {} : { model: "u/1" }) }))).toEqual({
			settings: "model" in section ? DEFAULTS : { ...DEFAULTS, model: "u/1" },
			problems: [["user", message]],
		});
	});

	test.each([
		["a text", "x"],
		["a list", []],
		["null", null],
		["a number", 1],
	])("the section is %s", async (_what, section) => {
		expect(await read(undefined, deck(section))).toEqual({
			settings: DEFAULTS,
			problems: [["project", "flightdeck must be an object."]],
		});
	});

	test.each(["{ not JSON", ""])("a file that is %j", async (text) => {
		expect(await read(text, deck({ model: "p/1" }))).toEqual({
			settings: { ...DEFAULTS, model: "p/1" },
			problems: [["user", "is not valid JSON; its flightdeck settings are ignored."]],
		});
	});

	test.each(["[]", "null", "5", '"x"'])("a file that is %s has no settings of ours", async (text) => {
		expect(await read(text)).toEqual({ settings: DEFAULTS, problems: [] });
	});

	test("a file that cannot be read", async () => {
		await using folder = await tempFolder();
		await mkdir(join(folder.path, "settings.json"));
		const { settings, problems } = await readSettings({
			agentDir: folder.path,
			cwd: folder.path,
			projectTrusted: true,
		});
		expect(settings).toEqual(DEFAULTS);
		expect(problems).toMatchObject([{ message: expect.stringMatching(/^cannot be read: EISDIR/) }]);
	});

	test("a hostile key", async () => {
		const { settings, problems } = await read('{"flightdeck":{"__proto__":{"model":"x"},"constructor":1}}');
		expect(settings).toEqual(DEFAULTS);
		expect(settings.model).toBeUndefined();
		expect(problems).toHaveLength(2);
	});
});
