import { expect, test } from "vitest";
import type { ProgramInTerminal } from "../../support/terminal.ts";
import { specialAgent } from "../support/e2e-child-extension.ts";
import { flightdeck } from "../support/e2e-command.ts";
import { aliveOf, inLongWork, LONG_WORK, longWorkScene } from "../support/e2e-long-work.ts";
import { eventually, msUntilGone } from "../support/e2e-processes.ts";
import { expectEnded, manifestNow, onlyRun } from "../support/e2e-records.ts";
import { bash, child, createScene, parent } from "../support/e2e-scene.ts";
import { ask, CTRL_D, ENTER, ESCAPE, flightdeckInTerminal, startPi } from "../support/e2e-terminal.ts";

/** Sets the title of the window and clears the screen. */
const hostile = (title: string) => `\u001b]0;owned ${title}\u0007\u001b[2J\u001b[H\u009b2J`;

function expectUnharmed(terminal: ProgramInTerminal, firstWords: string): void {
	expect(terminal.titles().join()).not.toContain("owned");
	// What was there first is still there.
	expect(terminal.screen().join("\n")).toContain(firstWords);
}

test("the card obeys no escape code of a parameter", async () => {
	const scene = await createScene([
		parent(
			{ task: "Go", model: `mock/${hostile("model")}m1` },
			{ task: "Go", thinking: hostile("thinking") },
			{ task: "Go", cwd: `${hostile("cwd")}/x` },
			{ task: hostile("task"), agent: hostile("agent") },
		),
		child([{ text: "fine" }]),
	]);
	const terminal = startPi(scene, 100, 50);
	await ask(terminal);
	await terminal.until((screen) => screen.includes("parent done"));

	expectUnharmed(terminal, "PARENT go");
	expect(terminal.screen().join("\n")).toContain("is no thinking level");
	terminal.type(CTRL_D);
	expect((await terminal.exited).exitCode).toBe(0);
});

/** What a file or a pipe gets as it is. */
const ANSWER = `one ${hostile("answer")} two\u0000\r\n\tthree \u001b[31mred`;

test("an answer does nothing to a terminal", async () => {
	const scene = await createScene([
		child([bash(`true '${hostile("tool").replaceAll("\u009b", "")}'`), { text: ANSWER }]),
	]);
	const terminal = flightdeckInTerminal(scene, ["run", "worker", "Go"]);
	expect((await terminal.exited).exitCode).toBe(0);
	await terminal.until((screen) => screen.includes("record: "));

	expectUnharmed(terminal, "pi-flightdeck v");
	expect(terminal.screen().join("\n")).toContain("one  two");
});

test("an answer comes out of a pipe byte for byte", async () => {
	const scene = await createScene([child([{ text: ANSWER }])]);

	const run = await flightdeck(scene, ["run", "worker", "Go"]);

	expect(run).toMatchObject({ code: 0, stdout: `${ANSWER}\n` });
});

test("what a child that fails says, and what the command itself quotes, does nothing to a terminal", async () => {
	const body = `throw new Error(${JSON.stringify(`x${hostile("stderr")}`)});`;
	const scene = await createScene([child([])], { agents: specialAgent(body) });
	const failed = flightdeckInTerminal(scene, ["run", "special", "Go"]);
	expect((await failed.exited).exitCode).toBe(1);
	await failed.until((screen) => screen.includes("record: "));
	expectUnharmed(failed, "pi-flightdeck v");

	for (const args of [
		["run", `worker${hostile("agent")}`, "Go"],
		["run", "--cwd", hostile("cwd"), "worker", "Go"],
		[hostile("command"), "Go"],
	]) {
		const refused = flightdeckInTerminal(scene, args);
		expect((await refused.exited).exitCode).toBe(2);
		await refused.until((screen) => screen.trim() !== "");
		expect(refused.titles()).toEqual([]);
	}
});

/** Ends the session in every way that a person or the system has for it; Esc ends only what it does. */
const ENDS = {
	"Ctrl-D": (terminal: ProgramInTerminal) => terminal.type(CTRL_D),
	"/new": async (terminal: ProgramInTerminal) => {
		terminal.type("/new");
		await terminal.until((screen) => screen.includes("/new"));
		terminal.type(ENTER);
		await terminal.until((screen) => screen.includes("New session started"));
		terminal.type(CTRL_D);
	},
	SIGTERM: (_terminal: ProgramInTerminal, pid: number) => process.kill(pid, "SIGTERM"),
	SIGHUP: (_terminal: ProgramInTerminal, pid: number) => process.kill(pid, "SIGHUP"),
	Esc: async (terminal: ProgramInTerminal) => {
		terminal.type(ESCAPE);
		await terminal.until((screen) => screen.includes("stopped by the user") && screen.includes("Operation aborted"));
	},
};

test.each(Object.entries(ENDS))("%s in the middle of a run: stopped, and nothing is left", async (how, end) => {
	const scene = await createScene([parent({ task: "Go" }), LONG_WORK], longWorkScene());
	const terminal = startPi(scene, 100, 40);
	await ask(terminal);
	const { runId, pids } = await inLongWork(scene);
	await terminal.until((screen) => screen.includes("bash sleep 300"));

	await end(terminal, await eventually(() => manifestNow(scene)?.owner.pid));

	if (how !== "Esc") expect((await terminal.exited).exitCode).toBe(0);
	await msUntilGone(runId);
	// One that is being torn down shows no environment any more, and is in the table a moment longer.
	await expect.poll(() => aliveOf(pids), { timeout: 5_000 }).toEqual([]);
	const stored = await onlyRun(scene);
	await expectEnded(stored, { status: "stopped", exitPath: "stopped" });
	expect(stored.manifest.reason).toBe(how === "Esc" ? "stopped by the user" : "shutdown");
});
