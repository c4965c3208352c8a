import { expect, test } from "vitest";
import { specialAgent } from "../support/e2e-child-extension.ts";
import { flightdeck, startFlightdeck } from "../support/e2e-command.ts";
import { aliveOf, inLongWork, LONG_WORK, longWorkScene } from "../support/e2e-long-work.ts";
import { fencedOutput, onlyResult, runParent } from "../support/e2e-parent.ts";
import { eventually } from "../support/e2e-processes.ts";
import { expectEnded, manifestNow, onlyRun } from "../support/e2e-records.ts";
import { bash, child, createScene, parent } from "../support/e2e-scene.ts";

/** Runs `special` by the command. */
async function runSpecial(body: string, answers: Parameters<typeof child>[0] = [{ text: "the answer" }]) {
	const scene = await createScene([child(answers)], { agents: specialAgent(body) });
	const run = await flightdeck(scene, ["run", "special", "Go"]);
	return { scene, run, stored: await onlyRun(scene) };
}

/** Runs `special` by the tool. */
async function askSpecial(body: string, answers: Parameters<typeof child>[0] = [{ text: "the answer" }]) {
	const scene = await createScene([parent({ agent: "special", task: "Go" }), child(answers)], {
		agents: specialAgent(body),
	});
	const result = onlyResult((await runParent(scene)).results);
	return { scene, result, stored: await onlyRun(scene) };
}

test("work that an extension adds when all is settled belongs to the run", async () => {
	const { run, stored } = await runSpecial(
		'let asked = 0; pi.on("agent_settled", () => { if (asked++ === 0) pi.sendUserMessage("more"); });',
		[{ text: "FIRST" }, bash("true"), { text: "SECOND" }],
	);

	expect(run).toMatchObject({ code: 0, stdout: "SECOND\n" });
	await expectEnded(stored, { status: "completed", exitPath: "done" });
	expect(stored.result).toBe("SECOND");
});

test("work that an extension adds a moment after the end may be too late, and then changes nothing", async () => {
	const { run, stored } = await runSpecial(
		'let asked = 0; pi.on("agent_end", () => { if (asked++ === 0) setTimeout(() => pi.sendUserMessage("more"), 0); });',
		[{ text: "FIRST" }, bash("sleep 0.2"), { text: "SECOND" }],
	);

	expect(run.code).toBe(0);
	await expectEnded(stored, { status: "completed", exitPath: "done" });
	// Whether the child was idle in between is a matter of milliseconds.
	expect(["FIRST\n", "SECOND\n"]).toContain(run.stdout);
});

test("an answer that is forged while the child is sent away does not replace the real one", async () => {
	const { run, stored } = await runSpecial(
		'pi.on("session_shutdown", () => raw(forgedAnswer("FORGED", { errorMessage: { x: 1 } })));',
	);

	expect(run).toMatchObject({ code: 0, stdout: "the answer\n" });
	await expectEnded(stored, { status: "completed", exitPath: "done" });
	expect(stored.result).toBe("the answer");
	// It came in time to be read: otherwise this would prove nothing.
	expect(JSON.stringify(stored.journal)).toContain("FORGED");
});

test("a forged end that names its error with an object: the result still names run and record", async () => {
	const { result, stored } = await askSpecial(
		`let said = 0;
		pi.on("agent_settled", () => {
			if (said++ > 0) return;
			raw(forgedAnswer("", { stopReason: "error", errorMessage: { x: 1 }, model: { y: 2 }, provider: 7 }));
		});`,
	);

	expect(result.isError).toBe(true);
	expect(result.text).toContain('{"x":1}');
	expect(result.text).toContain(`Run ${stored.manifest.runId.slice(-8)} failed (provider-error)`);
	expect(result.text).toContain(`Record: ${stored.dir}`);
	await expectEnded(stored, { status: "failed", exitPath: "provider-error" });
});

const MANY_QUESTIONS = `pi.on("turn_start", async (_event, ctx) => {
	for (let n = 0; n < 2000; n++) await ctx.ui.confirm("Really do number " + n + "? " + "x".repeat(500), "m");
});`;
const MANY_ERRORS = `for (let n = 0; n < 500; n++)
	pi.on("turn_start", () => { throw new Error("BOOM " + n + " " + "x".repeat(2000)); });`;

test.each([
	["2,000 questions", MANY_QUESTIONS],
	["500 errors", MANY_ERRORS],
])("%s of a child are told in a few lines", async (_what, body) => {
	const { result, stored } = await askSpecial(body);

	expect(fencedOutput(result.text)).toBe("the answer");
	expect(result.text.length).toBeLessThan(10_000);
	expect(result.text).toContain("Warning: ");
	expect(stored.manifest.warnings.length).toBeLessThanOrEqual(10);
	await expectEnded(stored, { status: "completed", exitPath: "done" });
});

test("a child that swaps its output for another is ended by itself", async ({ skip }) => {
	skip(process.platform === "win32", "there is no /dev/null on Windows");
	const { run, stored } = await runSpecial(
		'pi.on("turn_start", () => { fs.closeSync(1); fs.openSync("/dev/null", "w"); });',
		[bash("sleep 300")],
	);

	expect(run.code).toBe(1);
	await expectEnded(stored, { status: "failed", exitPath: "incomplete" });
	expect(stored.manifest.reason).toContain("closed its output");
	const { createdAt, completedAt } = stored.manifest;
	expect(Date.parse(completedAt ?? "") - Date.parse(createdAt)).toBeLessThan(20_000);
});

test.each([false, true])("a child that is killed in a tool leaves nobody behind (stubborn: %s)", async (stubborn) => {
	const scene = await createScene([LONG_WORK], longWorkScene({ stubborn }));
	const { ended } = startFlightdeck(scene, ["run", "worker", "Go"]);
	const { pids } = await inLongWork(scene);
	expect(await aliveOf(pids)).toEqual(pids);
	process.kill(await eventually(() => manifestNow(scene)?.attempts[0]?.pid ?? undefined), "SIGKILL");

	expect((await ended).code).toBe(1);
	// One that is being torn down shows no environment any more, and is in the table a moment longer.
	await expect.poll(() => aliveOf(pids), { timeout: 5_000 }).toEqual([]);
	const stored = await onlyRun(scene);
	await expectEnded(stored, { status: "failed", exitPath: "crashed" });
	expect(stored.manifest.attempts[0]?.exit).toMatchObject({ signal: "SIGKILL", forced: false });
});
