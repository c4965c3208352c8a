import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { fencedOutput, onlyResult, type ParentRun, runParent, type SubagentResult } from "../support/e2e-parent.ts";
import { carriersOf } from "../support/e2e-processes.ts";
import { expectEnded, onlyRun, type StoredRun } from "../support/e2e-records.ts";
import { agentFile, bash, child, createScene, parent, type Scene } from "../support/e2e-scene.ts";

/** Runs an agent whose child loads an extension of this text. */
async function runWith(extension: string, answers = [{ text: "fine" }] as Parameters<typeof child>[0]) {
	const scene = await createScene([parent({ agent: "special", task: "Go" }), child(answers)], {
		agents: { "special.md": agentFile({ extensions: "./special.ts" }), "special.ts": extension },
	});
	const run = await runParent(scene);
	return { scene, run, result: onlyResult(run.results), stored: await onlyRun(scene) } satisfies {
		scene: Scene;
		run: ParentRun;
		result: SubagentResult;
		stored: StoredRun;
	};
}

test("J17: one that throws when it is loaded: the run fails and says what stderr said", async () => {
	const { scene, result, stored } = await runWith('throw new Error("BOOM at load"); export default () => {};');

	expect(result.isError).toBe(true);
	expect(result.text).toContain("failed (spawn-failed)");
	expect(result.text).toContain("BOOM at load");
	expect(result.text).toContain("special.ts");
	expect(result.usage).toBeUndefined();
	await expectEnded(stored, { status: "failed", exitPath: "spawn-failed" });
	expect(stored.manifest.usage.known).toBe(false);
	expect(stored.manifest.attempts[0]?.exit).toMatchObject({ code: 1, stderrTail: expect.stringContaining("BOOM") });
	expect(stored.summary).toContain("BOOM at load");
	expect(scene.server.requests().map(({ conversation }) => conversation)).toEqual(["parent", "parent"]);
});

test("one that is not there", async () => {
	const scene = await createScene([parent({ agent: "special", task: "Go" }), child([])], {
		agents: { "special.md": agentFile({ extensions: "./nowhere.ts" }) },
	});

	const result = onlyResult((await runParent(scene)).results);

	expect(result.isError).toBe(true);
	expect(result.text).toContain("nowhere.ts");
	await expectEnded(await onlyRun(scene), { status: "failed", exitPath: "spawn-failed" });
});

test("one that throws in an event handler: a warning of a run that completes", async () => {
	const { scene, result, stored } = await runWith(
		'export default (pi) => { pi.on("turn_start", () => { throw new Error("BOOM in a handler"); }); };',
	);

	expect(result.isError).toBe(false);
	expect(fencedOutput(result.text)).toBe("fine");
	expect(result.text).toMatch(/Warning: Extension error: .*special\.ts.*BOOM in a handler/);
	await expectEnded(stored, { status: "completed", exitPath: "done" });
	expect(stored.manifest.warnings).toEqual([expect.stringContaining("BOOM in a handler")]);
	expect(scene.server.unexpected()).toEqual([]);
});

test("one that keeps a timer alive does not keep the child alive", async () => {
	const { result, stored } = await runWith("export default () => { setInterval(() => {}, 1000); };");

	expect(fencedOutput(result.text)).toBe("fine");
	await expectEnded(stored, { status: "completed", exitPath: "done" });
	expect(stored.manifest.warnings).toEqual([]);
});

test("one that lets the child's end wait for ever: it is ended, and the run stays completed", async () => {
	const { result, stored } = await runWith(
		'export default (pi) => { setInterval(() => {}, 1000); pi.on("session_shutdown", () => new Promise(() => {})); };',
	);

	expect(result.isError).toBe(false);
	expect(fencedOutput(result.text)).toBe("fine");
	expect(result.text).toContain("Warning: The child had to be ended after its work was done.");
	await expectEnded(stored, { status: "completed", exitPath: "done" });
	expect(stored.manifest.attempts[0]?.exit).toMatchObject({ forced: true });
	expect(stored.journal.at(-1)).toMatchObject({ forcedExit: true });
	expect(stored.result).toBe("fine");
});

test("one that leaves a process running: the run completes and names it", async () => {
	const { scene, result, stored } = await runWith(`
		import { spawn } from "node:child_process";
		import { writeFileSync } from "node:fs";
		export default () => {
			const child = spawn("sleep", ["303"], { detached: true, stdio: "ignore" });
			child.unref();
			writeFileSync("pid", String(child.pid));
		};`);

	const pid = Number(await readFile(join(scene.cwd, "pid"), "utf8"));
	expect(stored.manifest).toMatchObject({ status: "completed", warnings: [`Left running: pid ${pid}.`] });
	expect(stored.manifest.attempts[0]?.exit?.leftovers).toEqual([pid]);
	expect(stored.journal.at(-1)).toMatchObject({ type: "run-end", leftovers: [pid] });
	expect(result.text).toContain(`Warning: Left running: pid ${pid}.`);
	expect(await carriersOf(stored.manifest.runId)).toEqual([pid]);
});

test("G11: one that asks the user: the question is denied, and the run completes with a warning", async () => {
	const { scene, result, stored } = await runWith(
		`export default (pi) => {
			pi.on("tool_call", async (_event, ctx) => {
				const allowed = await ctx.ui.confirm("Run this command?", "It is dangerous.");
				return allowed ? undefined : { block: true, reason: "Nobody allowed it." };
			});
		};`,
		[bash("touch touched"), { text: "I was not allowed to." }],
	);

	expect(result.isError).toBe(false);
	expect(fencedOutput(result.text)).toBe("I was not allowed to.");
	expect(result.text).toContain("Warning: Denied, since nobody could be asked: Run this command?");
	await expectEnded(stored, { status: "completed", exitPath: "done" });
	expect(existsSync(join(scene.cwd, "touched"))).toBe(false);
	expect(scene.server.unexpected()).toEqual([]);
});

test("one that asks in every other way does not block the child either", async () => {
	const { stored } = await runWith(`export default (pi) => {
		pi.on("turn_start", async (_event, ctx) => {
			await ctx.ui.select("Which?", ["a", "b"]);
			await ctx.ui.input("Name?");
			await ctx.ui.editor("Text?");
			ctx.ui.notify("only shown", "info");
			ctx.ui.setStatus("special", "only shown");
		});
	};`);

	await expectEnded(stored, { status: "completed", exitPath: "done" });
	expect(stored.manifest.warnings.map((warning) => warning.split(": ")[1])).toEqual(["Which?", "Name?", "Text?"]);
});

test("one that ends the child in the middle of the run: crashed, with the exit code", async () => {
	const { result, stored } = await runWith(
		'export default (pi) => { pi.on("turn_start", () => { process.stderr.write("giving up\\n"); process.exit(3); }); };',
	);

	expect(result.isError).toBe(true);
	expect(result.text).toContain("giving up");
	await expectEnded(stored, { status: "failed", exitPath: "crashed" });
	expect(stored.manifest.attempts[0]?.exit).toMatchObject({ code: 3 });
});

test("one that aborts the child's run: incomplete", async () => {
	const { stored } = await runWith('export default (pi) => { pi.on("turn_start", (_event, ctx) => ctx.abort()); };');

	await expectEnded(stored, { status: "failed", exitPath: "incomplete" });
});
