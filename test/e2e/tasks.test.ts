import { createHash } from "node:crypto";
import { expect, test } from "vitest";
import { flightdeck } from "../support/e2e-command.ts";
import { fencedOutput, onlyResult, runParent } from "../support/e2e-parent.ts";
import { expectEnded, onlyRun, storedRuns } from "../support/e2e-records.ts";
import { agentFile, child, createScene, parent, type Scene } from "../support/e2e-scene.ts";

/** What the child's model was given as the task, run by run. */
function tasksServed({ server }: Scene): string[] {
	return server
		.requests()
		.filter(({ conversation }) => conversation === "child")
		.map(({ userText }) => userText);
}

const LONG_TASK = Array.from({ length: 4000 }, (_, line) => `${line}: ${"do this, ".repeat(5)}`).join("\n");

const TASKS = [
	["a dash", "--help me, -x is not an option"],
	["an at sign", "@README.md is not to be read by pi"],
	["a slash", "/help"],
	["a slash and a name", "/model mock/m2 is no command"],
	["a bang", "!echo not a shell command"],
	["white space", "  two blanks before, and a line after\n\n"],
	["a NUL", "before\0after"],
	["control characters", "\u001b[31mred\u001b[0m\u0007 tab\there"],
	["other scripts", "Grüße, 世界, שלום, 👩‍👩‍👧‍👦, e\u0301"],
	["line separators", "one\u2028two\u2029three\u0085four\r\nfive"],
] as const;

test("B18: every task reaches the child's model as it is, from the tool", async () => {
	const scene = await createScene([
		parent(...TASKS.map(([, task]) => ({ task }))),
		child((_request, turn) => ({ text: `answer ${turn}` })),
	]);

	const run = await runParent(scene);

	expect(tasksServed(scene)).toEqual(TASKS.map(([, task]) => `Task: ${task}`));
	expect(run.results.map(({ text }) => fencedOutput(text))).toEqual(TASKS.map((_, index) => `answer ${index}`));
	const runs = await storedRuns(scene);
	expect(runs.map(({ manifest }) => manifest.task)).toEqual(TASKS.map(([, task]) => task));
	for (const stored of runs) await expectEnded(stored, { status: "completed", exitPath: "done" });
	expect(scene.server.unexpected()).toEqual([]);
});

test.each(TASKS.filter(([, task]) => /^[-@/]/.test(task)))(
	"a task that begins with %s, from the command",
	async (_name, task) => {
		const scene = await createScene([child([{ text: "done" }])]);

		const run = await flightdeck(scene, ["run", "worker", "--", task]);

		expect(run).toMatchObject({ code: 0, stdout: "done\n" });
		expect(tasksServed(scene)).toEqual([`Task: ${task}`]);
	},
);

test("a task that begins like a command of the child's extension is a task", async () => {
	const scene = await createScene([parent({ agent: "special", task: "/deploy now" }), child([{ text: "done" }])], {
		agents: {
			"special.md": agentFile({ extensions: "./special.ts" }),
			"special.ts": `export default (pi) => {
				for (const name of ["deploy", "Task", "Task:"]) pi.registerCommand(name, { handler: async () => {} });
			};`,
		},
	});

	const result = onlyResult((await runParent(scene)).results);

	expect(fencedOutput(result.text)).toBe("done");
	expect(tasksServed(scene)).toEqual(["Task: /deploy now"]);
	await expectEnded(await onlyRun(scene), { status: "completed", exitPath: "done" });
});

test("A12: a task of 200 KB, from the tool", async () => {
	const scene = await createScene([parent({ task: LONG_TASK }), child([{ text: "read it all" }])]);

	const result = onlyResult((await runParent(scene)).results);

	expect(Buffer.byteLength(LONG_TASK)).toBeGreaterThan(200_000);
	expect(fencedOutput(result.text)).toBe("read it all");
	expect(tasksServed(scene).map((text) => text === `Task: ${LONG_TASK}`)).toEqual([true]);
	const stored = await onlyRun(scene);
	await expectEnded(stored, { status: "completed", exitPath: "done" });
	expect(stored.manifest.task === LONG_TASK).toBe(true);
	expect(stored.manifest.meta).toMatchObject({
		taskBytes: Buffer.byteLength(LONG_TASK),
		taskSha256: createHash("sha256").update(LONG_TASK).digest("hex"),
	});
	expect(stored.summary.length).toBeLessThan(20_000);
	expect(scene.server.unexpected()).toEqual([]);
});

test("a task of 200 KB, from the command's standard input", async () => {
	const scene = await createScene([child([{ text: "read it all" }])]);

	const run = await flightdeck(scene, ["run", "worker", "-"], { input: LONG_TASK });

	expect(run).toMatchObject({ code: 0, stdout: "read it all\n" });
	expect(tasksServed(scene).map((text) => text === `Task: ${LONG_TASK}`)).toEqual([true]);
});

test("B1: an answer with characters of every kind comes back whole", async () => {
	const answer = "Grüße\u2028世界\u2029שלום\u0085👩‍👩‍👧‍👦 e\u0301 \u001b[31mred\u001b[0m\ttab\r\nend";
	// One UTF-16 unit per piece: pairs are split between two pieces of the stream.
	const scene = await createScene([parent({ task: "Go" }), child([{ text: answer, chunkCharacters: 1 }])]);

	const result = onlyResult((await runParent(scene)).results);

	const stored = await onlyRun(scene);
	await expectEnded(stored, { status: "completed", exitPath: "done" });
	expect(stored.result).toBe(answer);
	expect(fencedOutput(result.text)).toBe(answer);
	expect(stored.manifest.warnings).toEqual([]);
	expect(scene.server.unexpected()).toEqual([]);
});
