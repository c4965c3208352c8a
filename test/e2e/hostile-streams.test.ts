import { type StdioOptions, spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, openSync } from "node:fs";
import type { Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { expect, onTestFinished, test } from "vitest";
import { expectEnded, onlyRun } from "../support/e2e-records.ts";
import { child, createScene, PUBLISHED, type Scene } from "../support/e2e-scene.ts";

/** Starts `flightdeck run` with streams that fail; it is ended with the test at the latest. */
function start(scene: Scene, stdio: StdioOptions) {
	const command = spawn(process.execPath, [PUBLISHED.command, "run", "worker", "Go"], {
		cwd: scene.cwd,
		env: scene.env,
		stdio,
	});
	const closed = once(command, "close");
	onTestFinished(async () => {
		command.kill("SIGKILL");
		await closed;
	});
	return { command, closed };
}

const read = (stream: Readable | null) => (stream ? text(stream) : Promise.resolve(undefined));

/** A child that answers only when the test says so: there is something to print after the reader went. */
const heldScene = () => createScene([child([{ text: "the answer", hold: true }])]);

async function expectCompleted(scene: Scene): Promise<void> {
	const stored = await onlyRun(scene);
	await expectEnded(stored, { status: "completed", exitPath: "done" });
	expect(stored.result).toBe("the answer");
	expect(scene.server.unexpected()).toEqual([]);
}

test("a reader of stderr that goes away after the first lines does not end the run", async () => {
	const scene = await heldScene();
	const { command, closed } = start(scene, ["ignore", "pipe", "pipe"]);
	const answer = read(command.stdout);
	await once(command.stderr ?? command, "data");
	command.stderr?.destroy();
	(await scene.server.held()).release();

	expect(await closed).toEqual([0, null]);
	expect(await answer).toBe("the answer\n");
	await expectCompleted(scene);
});

test("a reader of stdout that goes away does not change the end of the run", async () => {
	const scene = await heldScene();
	const { command, closed } = start(scene, ["ignore", "pipe", "pipe"]);
	const said = read(command.stderr);
	command.stdout?.destroy();
	(await scene.server.held()).release();

	expect(await closed).toEqual([0, null]);
	expect(await said).toContain("completed\n");
	await expectCompleted(scene);
});

test.for(["stdout", "stderr"])("a full disk behind %s", async (full, { skip }) => {
	skip(process.platform !== "linux", "only Linux has /dev/full");
	const scene = await createScene([child([{ text: "the answer" }])]);
	const device = openSync("/dev/full", "w");
	onTestFinished(() => closeSync(device));
	const { command, closed } = start(scene, full === "stdout" ? ["ignore", device, "pipe"] : ["ignore", "pipe", device]);
	const other = read(full === "stdout" ? command.stderr : command.stdout);

	expect(await closed).toEqual([0, null]);
	expect(await other).toContain(full === "stdout" ? "completed\n" : "the answer\n");
	await expectCompleted(scene);
});
