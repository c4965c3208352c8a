import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { flightdeck } from "../support/e2e-command.ts";
import { fencedOutput, onlyResult, parentTotals, runParent, servedIn } from "../support/e2e-parent.ts";
import { expectEnded, onlyRun, usageOf } from "../support/e2e-records.ts";
import { RpcParent } from "../support/e2e-rpc-parent.ts";
import { bash, child, createScene, FORMS, parent } from "../support/e2e-scene.ts";

const ANSWER = "The note says beta.\nAll done.";
/** Four turns, five tool calls, two of them at once, with usage that no other request of the test has. */
const WORK = child([
	{
		toolCalls: [
			{ name: "write", args: { path: "note.txt", content: "alpha\n" } },
			{ name: "bash", args: { command: "echo from-bash" } },
		],
		usage: { input: 500, output: 21 },
	},
	{
		toolCalls: [{ name: "edit", args: { path: "note.txt", edits: [{ oldText: "alpha", newText: "beta" }] } }],
		usage: { input: 37, output: 22, cacheRead: 480 },
	},
	{ toolCalls: [{ name: "read", args: { path: "note.txt" } }], usage: { input: 41, output: 23, cacheRead: 510 } },
	{ toolCalls: [{ name: "read", args: { path: "missing.txt" } }], usage: { input: 43, output: 24, cacheRead: 530 } },
	{ text: ANSWER, usage: { input: 47, output: 25, cacheRead: 560 } },
]);

test.each(FORMS)("a task with tool calls, from the tool ($form)", async ({ extension }) => {
	const scene = await createScene([parent({ task: "Write the note" }), WORK]);

	const run = await runParent(scene, { extension });

	expect(run).toMatchObject({ code: 0, stderr: "", otherLines: [] });
	const result = onlyResult(run.results);
	expect(result.isError).toBe(false);
	expect(fencedOutput(result.text)).toBe(ANSWER);
	expect(await readFile(join(scene.cwd, "note.txt"), "utf8")).toBe("beta\n");

	const stored = await onlyRun(scene);
	await expectEnded(stored, { status: "completed", exitPath: "done" });
	expect(stored.result).toBe(ANSWER);
	expect(stored.summary).toContain(ANSWER);
	expect(result.text).toContain(stored.dir);
	expect(stored.manifest).toMatchObject({
		agent: { name: "worker", source: "builtin" },
		task: "Write the note",
		cwd: scene.cwd,
		reason: "",
		warnings: [],
		meta: { startedBy: "tool", depth: 1, model: { id: "mock/m1", source: "parent" }, pi: { foundBy: "running" } },
		counters: { turns: 5, toolUses: 5, toolErrors: 1, retries: 0, compactions: 0 },
		attempts: [{ model: "mock/m1", exit: { code: 0, signal: null, forced: false, streams: "closed" } }],
	});
	expect(stored.journal.at(-1)).toMatchObject({
		turnsUsed: 5,
		toolCounts: { write: 1, bash: 1, edit: 1, read: 2 },
		exitCode: 0,
	});

	const served = servedIn(scene, "child");
	expect(served).toEqual({ input: 668, output: 115, cacheRead: 2080 });
	expect(usageOf(stored.manifest)).toEqual(served);
	expect(result.usage).toMatchObject(served);
	const { cost, ...tokens } = scene.server.served();
	expect(parentTotals(run.records)).toEqual({ ...tokens, cost: expect.closeTo(cost ?? Number.NaN, 12) });
	expect(scene.server.unexpected()).toEqual([]);
});

test("the child's session lies in the record and bears the run's id", async () => {
	const scene = await createScene([parent({ task: "Write the note" }), WORK]);
	await runParent(scene);
	const { manifest, dir } = await onlyRun(scene);

	const file = manifest.attempts[0]?.sessionFile ?? "";
	const session = await readFile(join(dir, file), "utf8");
	expect(file).toMatch(/^session\//);
	expect(JSON.parse(session.split("\n")[0] ?? "")).toMatchObject({ type: "session", id: manifest.runId });
	expect(session).toContain("worker: Write the note");
});

test("pi's own session statistics count the child to the token", async () => {
	const scene = await createScene([parent({ task: "Write the note" }), WORK]);
	const pi = new RpcParent(scene);
	await pi.prompt();
	await pi.record("agent_settled");

	const stats = await pi.command({ type: "get_session_stats" });

	const { cost, ...tokens } = scene.server.served();
	expect(stats.data).toMatchObject({ tokens, cost: expect.closeTo(cost ?? Number.NaN, 12) });
	await pi.close();
});

test.each(FORMS)("a task with tool calls, from the command ($form)", async ({ command }) => {
	const scene = await createScene([WORK]);

	const run = await flightdeck(scene, ["run", "worker", "Write the note"], { command });

	const stored = await onlyRun(scene);
	expect(run).toMatchObject({ code: 0, stdout: `${ANSWER}\n` });
	expect(run.stderr).toContain(`record: ${stored.dir}`);
	await expectEnded(stored, { status: "completed", exitPath: "done" });
	expect(stored.manifest.meta).toMatchObject({ startedBy: "command", depth: 1, pi: { foundBy: "package" } });
	expect(usageOf(stored.manifest)).toEqual(servedIn(scene, "child"));
	expect(scene.server.unexpected()).toEqual([]);
});

test("`--json` prints one object, and the task may come from standard input", async () => {
	const scene = await createScene([child([bash("true"), { text: ANSWER }])]);

	const run = await flightdeck(scene, ["run", "--json", "--model", "mock/m2", "worker", "-"], { input: "From stdin" });

	expect(run.code).toBe(0);
	const { manifest, dir } = await onlyRun(scene);
	expect(JSON.parse(run.stdout)).toMatchObject({
		runId: manifest.runId,
		status: "completed",
		exitPath: "done",
		answer: ANSWER,
		model: "mock/m2",
		usage: { input: 200, output: 20, known: true },
		recordDir: dir,
	});
	expect(manifest).toMatchObject({ task: "From stdin", meta: { model: { id: "mock/m2", source: "flag" } } });
	expect(scene.server.requests().map(({ body }) => body.model)).toEqual(["m2", "m2"]);
});
