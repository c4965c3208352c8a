import { expect, test } from "vitest";
import { msUntilGone } from "../support/e2e-processes.ts";
import { expectEnded, onlyRun, runIdsIn } from "../support/e2e-records.ts";
import { bash, child, createScene, parent } from "../support/e2e-scene.ts";
import { ask, CTRL_D, CTRL_O, ESCAPE, startPi } from "../support/e2e-terminal.ts";

test("the card shows the run while it works, its end, and the whole answer when unfolded", async () => {
	const answer = Array.from({ length: 12 }, (_, line) => `answer line ${line + 1}`).join("\n\n");
	const scene = await createScene([
		parent({ task: "look around" }),
		child([bash("echo first; sleep 0.2"), { text: answer, hold: true, usage: { input: 10, output: 5 } }]),
	]);
	const terminal = startPi(scene, 100, 40);
	await ask(terminal);
	await terminal.until((screen) => screen.includes("subagent worker") && screen.includes("bash echo first"));
	await terminal.until((screen) => /● \w{8} · running/.test(screen));
	(await scene.server.held("child")).release();
	await terminal.until((screen) => screen.includes("parent done"));
	const folded = terminal.screen().join("\n");
	expect(folded).toMatch(/✓ \w{8} · completed · 2 turns · 1 tool use/);
	expect(folded).toContain("answer line 1");
	expect(folded).not.toContain("answer line 12");
	terminal.type(CTRL_O);
	await terminal.until((screen) => screen.includes("answer line 12"));
	terminal.type(CTRL_D);
	expect((await terminal.exited).exitCode).toBe(0);
});

test("Escape stops the child and its tree", async () => {
	const scene = await createScene([parent({ task: "wait" }), child([bash("sleep 300 & sleep 301")])]);
	const terminal = startPi(scene, 100, 30);
	await ask(terminal);
	await terminal.until((screen) => screen.includes("bash sleep 300"));
	terminal.type(ESCAPE);
	await terminal.until((screen) => /■ \w{8} · stopped/.test(screen));
	const [runId = ""] = await runIdsIn(scene.agentDir);
	await msUntilGone(runId);
	await expectEnded(await onlyRun(scene), { status: "stopped", exitPath: "stopped" });
	terminal.type(CTRL_D);
	expect((await terminal.exited).exitCode).toBe(0);
});

test.each([3, 20, 44])(
	"E1, E7: hostile output in %i columns neither ends pi nor acts on the terminal",
	async (columns) => {
		const hostile = `\u001b]0;owned\u0007\u001b[2J\u001b]52;c;b3duZWQ=\u0007${"界".repeat(60)}👩‍👩‍👧‍👦\t${"x".repeat(300)}\u0000\u009b31m`;
		const scene = await createScene([
			parent({ task: hostile.replaceAll("\u0000", "") }),
			child([bash(`printf '%s' "${"y".repeat(200)}"; true $'\\e[31m'`), { text: `done ${hostile}` }]),
		]);
		const terminal = startPi(scene, 100, 30);
		await ask(terminal);
		await scene.server.until((requests) => requests.some(({ conversation }) => conversation === "child"));
		terminal.resize(columns, 20);
		await scene.server.until(
			(requests) => requests.filter(({ conversation }) => conversation === "parent").length === 2,
		);
		terminal.resize(100, 40);
		await terminal.until((screen) => screen.includes("parent done") && screen.includes("completed"));
		terminal.type(CTRL_O);
		await terminal.until((screen) => screen.includes("runs/"));
		expect(terminal.titles().join()).not.toContain("owned");
		terminal.type(CTRL_D);
		expect((await terminal.exited).exitCode).toBe(0);
	},
);
