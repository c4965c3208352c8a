import { spawnSync } from "node:child_process";
import { mkdir, symlink } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { flightdeck } from "../support/e2e-command.ts";
import { onlyResult, runParent } from "../support/e2e-parent.ts";
import { expectEnded, onlyRun, runIdsIn } from "../support/e2e-records.ts";
import { agentFile, child, createScene, PUBLISHED, parent } from "../support/e2e-scene.ts";

test("what cannot be carried out is refused in clear words, and nothing is started or recorded", async () => {
	const requests = [
		{ call: { agent: "wroker", task: "Go" }, texts: ['Unknown agent "wroker"', 'Did you mean "worker"?', "scout"] },
		{ call: { agent: "", task: "Go" }, texts: ["Unknown agent", "worker"] },
		{ call: { task: "Go", thinking: "sideways" }, texts: ['"sideways"', "thinking", "medium"] },
		{ call: { task: "Go", model: "--help" }, texts: ['"--help"', "model", "provider/id"] },
		{ call: { task: "Go", cwd: "nowhere/at/all" }, texts: ["nowhere/at/all does not exist"] },
		{ call: { task: "Go", cwd: "file.txt" }, texts: ["file.txt is a file"] },
		{ call: { task: "" }, texts: ["task is empty"] },
		{ call: { task: " \n\t" }, texts: ["task is empty"] },
		{ call: { agent: "toolsmith", task: "Go" }, texts: ["toolsmith.md", "hammer", "read, bash"] },
	];
	const scene = await createScene([parent(requests.map(({ call }) => call))], {
		agents: { "toolsmith.md": agentFile({ tools: "read, hammer" }) },
		files: { "file.txt": "" },
	});

	const run = await runParent(scene);

	expect(run.code).toBe(0);
	expect(run.results).toHaveLength(requests.length);
	for (const [index, { texts }] of requests.entries()) {
		const result = run.results[index];
		expect(result).toMatchObject({ isError: true, usage: undefined });
		for (const text of texts) expect(result?.text).toContain(text);
		// One sentence or two for the model, no stack.
		expect(result?.text).not.toMatch(/\n\s+at /);
	}
	expect(await runIdsIn(scene.agentDir)).toEqual([]);
	expect(scene.server.requests().map(({ conversation }) => conversation)).toEqual(["parent", "parent"]);
	expect(scene.server.unexpected()).toEqual([]);
});

test("a model that pi does not find fails the run with pi's words", async () => {
	const scene = await createScene([parent({ task: "Go", model: "nope/m9" }), child([{ text: "wrong" }])]);

	const result = onlyResult((await runParent(scene)).results);

	expect(result.isError).toBe(true);
	expect(result.text).toContain("failed (spawn-failed)");
	expect(result.text).toContain('Model "nope/m9" not found');
	await expectEnded(await onlyRun(scene), { status: "failed", exitPath: "spawn-failed" });
	expect(scene.server.requests().map(({ conversation }) => conversation)).toEqual(["parent", "parent"]);
	expect(scene.server.unexpected()).toEqual([]);
});

test("a model that only the provider can judge is the one that is asked for, and no other", async () => {
	const unknown = { status: 404, body: { error: { message: "The model m9 does not exist" } } };
	const scene = await createScene([parent({ task: "Go", model: "mock/m9" }), child([unknown])]);

	const result = onlyResult((await runParent(scene)).results);

	expect(result.isError).toBe(true);
	expect(result.text).toContain("The model m9 does not exist");
	await expectEnded(await onlyRun(scene), { status: "failed", exitPath: "provider-error" });
	expect(scene.server.requests().map(({ body }) => body.model)).toEqual(["m1", "m9", "m1"]);
});

test.each([
	[["run", "wroker", "Go"], 'Did you mean "worker"?'],
	[["run", "--thinking", "sideways", "worker", "Go"], '"sideways" (flag)'],
	[["run", "--cwd", "nowhere", "worker", "Go"], "does not exist"],
	[["run", "--cwd", "file.txt", "worker", "Go"], "is a file"],
	[["run", "worker", "  "], "task is empty"],
	[["run", "worker"], "needs an agent and a task"],
	[["run", "worker", "Two", "words"], "quotes"],
	[["run", "--frobnicate", "worker", "Go"], "--frobnicate"],
	[["fly"], '"fly"'],
] as const)("the command refuses %j and exits with 2", async (args, text) => {
	const scene = await createScene([], { files: { "file.txt": "" } });

	const run = await flightdeck(scene, args);

	expect(run).toMatchObject({ code: 2, stdout: "" });
	expect(run.stderr).toContain(text);
	expect(await runIdsIn(scene.agentDir)).toEqual([]);
	expect(scene.server.requests()).toEqual([]);
});

test("a pi that is not there is named", async () => {
	const scene = await createScene([]);

	const run = await flightdeck(scene, ["run", "--pi", join(scene.cwd, "no-pi"), "worker", "Go"]);

	expect(run).toMatchObject({ code: 1, stdout: "" });
	expect(run.stderr).toContain("no-pi");
	expect(await runIdsIn(scene.agentDir)).toEqual([]);
});

test.each([["--version"], ["run", "worker", "Go"]])(
	"a folder that is gone is told in one line: %j",
	async (...args) => {
		const scene = await createScene([]);
		const gone = join(scene.cwd, "gone");
		await mkdir(gone);
		const words = [process.execPath, PUBLISHED.command, ...args].map((word) => `'${word}'`).join(" ");

		const run = spawnSync("/bin/sh", ["-c", `cd gone && rmdir ../gone && exec ${words}`], {
			...scene,
			encoding: "utf8",
		});

		expect(run).toMatchObject({ status: 1, stdout: "" });
		expect(run.stderr).toMatch(/^.*working directory.*\n$/);
	},
);

test.each([
	["a link to itself", "loop"],
	["a path longer than any", "a".repeat(5000)],
])("a pi that is %s is refused in one line", async (_what, path) => {
	const scene = await createScene([]);
	await symlink("loop", join(scene.cwd, "loop"));

	for (const options of [{ args: ["--pi", path] }, { args: [], env: { PI_FLIGHTDECK_PI: path } }]) {
		const run = await flightdeck(scene, ["run", ...options.args, "worker", "Go"], { env: options.env ?? {} });
		expect(run).toMatchObject({ code: 1, stdout: "" });
		expect(run.stderr).toMatch(/^.* is no file\. .*\n$/);
	}
	expect(await runIdsIn(scene.agentDir)).toEqual([]);
});

test.each(["PI_FLIGHTDECK_DEPTH", "PI_SUBAGENT_DEPTH", "PI_CREW_DEPTH"])(
	"A20: at the depth limit by %s nothing is started",
	async (name) => {
		const scene = await createScene([parent({ task: "Go" })]);

		const result = onlyResult((await runParent(scene, { env: { [name]: "2" } })).results);

		expect(result.isError).toBe(true);
		expect(result.text).toMatch(/nested 2 deep/);
		expect(await runIdsIn(scene.agentDir)).toEqual([]);
		expect(scene.server.unexpected()).toEqual([]);
	},
);

test("one level below the limit a run is started", async () => {
	const scene = await createScene([child([{ text: "deep" }])]);

	const run = await flightdeck(scene, ["run", "worker", "Go"], { env: { PI_SUBAGENT_DEPTH: "1" } });

	expect(run).toMatchObject({ code: 0, stdout: "deep\n" });
	const stored = await onlyRun(scene);
	await expectEnded(stored, { status: "completed", exitPath: "done" });
	expect(stored.manifest.meta.depth).toBe(2);
});
