import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { AgentManager } from "../../src/manager/agent-manager.ts";
import { loadCatalogue } from "../../src/manager/load-catalogue.ts";
import { planRun } from "../../src/manager/prepare-run.ts";
import type { SpawnOptions } from "../../src/manager/spawn-options.ts";
import { locatePi } from "../../src/runtimes/pi/locate-pi.ts";
import { PI_CLI } from "../../support/run-pi.ts";
import { startFlightdeck } from "../support/e2e-command.ts";
import { aliveOf, inLongWork, LONG_WORK, type LongWork, longWorkScene } from "../support/e2e-long-work.ts";
import { onlyResult, runParent, subagentResults } from "../support/e2e-parent.ts";
import { isAlive } from "../support/e2e-processes.ts";
import { expectEnded, onlyRun, runIdsIn, usageOf } from "../support/e2e-records.ts";
import { RpcParent } from "../support/e2e-rpc-parent.ts";
import { child, createScene, FORMS, parent, type Scene } from "../support/e2e-scene.ts";

async function expectStopped(scene: Scene, { pids }: LongWork, reason = "stopped by the user"): Promise<void> {
	const stored = await onlyRun(scene);
	await expectEnded(stored, { status: "stopped", exitPath: "stopped" });
	// One that is being torn down shows no environment any more, and is in the table a moment longer.
	await expect.poll(() => aliveOf(pids), { timeout: 5_000 }).toEqual([]);
	expect(stored.manifest.reason).toBe(reason);
	expect(stored.result).toBeUndefined();
	expect(stored.journal).toContainEqual(expect.objectContaining({ type: "stop-request" }));
	// What was used up to then is known.
	expect(usageOf(stored.manifest)).toEqual({ input: 100, output: 10, cacheRead: 0 });
	expect(scene.server.unexpected()).toEqual([]);
}

test.each(FORMS)("A16, A2: the user aborts in the middle of a tool call ($form)", async ({ extension }) => {
	const scene = await createScene([parent({ task: "Go" }), LONG_WORK], longWorkScene());
	const pi = new RpcParent(scene, { extension });
	await pi.prompt();
	const work = await inLongWork(scene);
	expect(await aliveOf(work.pids)).toEqual(work.pids);

	await pi.command({ type: "abort" });
	await pi.record("agent_settled");

	const result = onlyResult(subagentResults(pi.piRecords()));
	expect(result.isError).toBe(true);
	expect(result.text).toContain("stopped");
	await expectStopped(scene, work);
	// Long before somebody ends the session.
	expect(await isAlive(pi.pid ?? 0)).toBe(true);
	await pi.close();
});

test.each(FORMS)("Ctrl-C stops a run of the command ($form)", async ({ command }) => {
	const scene = await createScene([LONG_WORK], longWorkScene());
	const { process, ended } = startFlightdeck(scene, ["run", "worker", "Go"], { command });
	const work = await inLongWork(scene);
	expect(await aliveOf(work.pids)).toEqual(work.pids);

	process.kill("SIGINT");

	const run = await ended;
	expect(run).toMatchObject({ code: 130, stdout: "" });
	expect(run.stderr).toContain("stopped");
	await expectStopped(scene, work);
});

test("a session that is closed takes its runs along, also what ignores signals that ask", async () => {
	const scene = await createScene([parent({ task: "Go" }), LONG_WORK], longWorkScene({ stubborn: true }));
	const pi = new RpcParent(scene);
	await pi.prompt();
	const work = await inLongWork(scene);
	expect(await aliveOf(work.pids)).toEqual(work.pids);

	await pi.close();

	await expectStopped(scene, work, "shutdown");
});

test("the user aborts while the child's model is answering", async () => {
	const scene = await createScene([
		parent({ task: "Go" }),
		child([{ text: "x".repeat(1000), hold: true, holdAfter: 200 }]),
	]);
	const pi = new RpcParent(scene);
	await pi.prompt();
	await scene.server.held("child");

	await pi.command({ type: "abort" });
	await pi.record("agent_settled");

	const stored = await onlyRun(scene);
	await expectEnded(stored, { status: "stopped", exitPath: "stopped" });
	await pi.close();
});

/** Aborts the parent at the first `subagent` call: before its execution, or when it shows its first sign of life. */
const abortAt = (event: "tool_execution_start" | "tool_execution_update") => `
export default (pi) => {
	let done = false;
	pi.on("${event}", (event, ctx) => {
		// Before there is a child, the tool says that it waits for its turn.
		if (done || (event.partialResult && !event.partialResult.details)) return;
		ctx.abort();
		done = true;
	});
};`;

test("an abort before the tool is executed starts nothing", async () => {
	const scene = await createScene([parent({ task: "Go" })], { files: { "abort.ts": abortAt("tool_execution_start") } });

	const run = await runParent(scene, { args: ["-e", join(scene.cwd, "abort.ts")] });

	expect(onlyResult(run.results).isError).toBe(true);
	expect(await runIdsIn(scene.agentDir)).toEqual([]);
	expect(scene.server.unexpected()).toEqual([]);
});

/** The task is on its way before a child can be told to stop: it may get as far as its first request, and no further. */
const NEVER_ANSWERED = child([{ text: "too late", hold: true }]);

test("an abort at the child's first sign of life stops it", async () => {
	const scene = await createScene([parent({ task: "Go" }), NEVER_ANSWERED], {
		files: { "abort.ts": abortAt("tool_execution_update") },
	});

	const run = await runParent(scene, { args: ["-e", join(scene.cwd, "abort.ts")] });

	const result = onlyResult(run.results);
	expect(result.isError).toBe(true);
	expect(result.text).toContain("stopped");
	await expectEnded(await onlyRun(scene), { status: "stopped", exitPath: "stopped" });
	expect(scene.server.unexpected()).toEqual([]);
});

/** Runs a task without a parent, so that the moment of an abort can be chosen. */
async function runDirectly(
	{ agentDir, cwd, env }: Scene,
	options: (abort: () => void) => Partial<SpawnOptions> & { readonly afterCall?: () => void },
) {
	const known = await loadCatalogue({ agentDir, cwd, projectTrusted: false });
	const plan = planRun({ agent: "worker", task: "Go" }, { explicitSource: "flag", cwd, depth: 0 }, known);
	const program = locatePi({ override: PI_CLI });
	const manager = new AgentManager({ agentDir, flightdeckDir: join(agentDir, "flightdeck"), program, env });
	onTestFinished(() => manager.dispose());
	const controller = new AbortController();
	const { afterCall, ...rest } = options(() => controller.abort());
	const result = manager.spawnAndWait({
		...plan,
		projectTrusted: false,
		startedBy: "command",
		signal: controller.signal,
		...rest,
	});
	afterCall?.();
	return result;
}

test("A16: aborted before it was asked for, a run leaves no trace", async () => {
	const scene = await createScene([]);

	const result = await runDirectly(scene, () => ({ signal: AbortSignal.abort() }));

	expect(result).toMatchObject({ outcome: { status: "stopped", exitPath: "stopped" }, recordDir: undefined });
	expect(await runIdsIn(scene.agentDir)).toEqual([]);
});

test("aborted while its record is made, a run has a record and no process", async () => {
	const scene = await createScene([]);

	const result = await runDirectly(scene, (abort) => ({ afterCall: abort }));

	expect(result.outcome).toMatchObject({ status: "stopped", exitPath: "stopped" });
	const stored = await onlyRun(scene);
	await expectEnded(stored, { status: "stopped", exitPath: "stopped", started: false });
	expect(stored.journal.map(({ type }) => type)).toEqual(["run-start", "run-end"]);
});

test("aborted in the tick in which its child was spawned, a run is stopped", async () => {
	const scene = await createScene([NEVER_ANSWERED]);

	const result = await runDirectly(scene, (abort) => ({ onProcessCreated: abort }));

	expect(result.outcome).toMatchObject({ status: "stopped", exitPath: "stopped", answer: null });
	await expectEnded(await onlyRun(scene), { status: "stopped", exitPath: "stopped" });
	expect(scene.server.unexpected()).toEqual([]);
});
