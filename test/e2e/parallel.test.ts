import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { RunManifest } from "../../src/records/run-manifest.ts";
import { fencedOutput, parentTotals, subagentResults } from "../support/e2e-parent.ts";
import { expectEnded, runIdsIn, storedRuns } from "../support/e2e-records.ts";
import { RpcParent } from "../support/e2e-rpc-parent.ts";
import { child, createScene, parent } from "../support/e2e-scene.ts";

const NAMES = ["ALPHA", "BRAVO", "CHARLIE"];

test("three runs at once: each gets its own result, whatever the order in which they end", async () => {
	const conversations = NAMES.map((name, index) =>
		child(
			[
				{ toolCalls: [{ name: "bash", args: { command: `echo ${name}` } }], usage: { input: 10 + index, output: 1 } },
				{ text: `${name} `.repeat(200), hold: true, holdAfter: 300, usage: { input: 100 * (index + 1), output: 7 } },
			],
			name,
		),
	);
	const scene = await createScene([parent(NAMES.map((task) => ({ task }))), ...conversations]);
	const pi = new RpcParent(scene);
	await pi.prompt();
	// All three are in the middle of their answers; they go on in the other order.
	const held = await Promise.all(NAMES.map((name) => scene.server.held(`child ${name}`)));
	for (const [index, answer] of held.toReversed().entries()) {
		answer.release();
		await pi.toolEnds(index + 1);
	}
	await pi.record("agent_settled");

	const results = subagentResults(pi.piRecords());
	expect(results.map(({ text }) => fencedOutput(text)?.trim())).toEqual(
		NAMES.map((name) => `${name} `.repeat(200).trim()),
	);
	expect(results.map(({ usage }) => usage?.input)).toEqual([110, 211, 312]);
	expect(results.map(({ isError }) => isError)).toEqual([false, false, false]);
	const runs = await storedRuns(scene);
	expect(runs.map(({ manifest }) => manifest.task).toSorted()).toEqual(NAMES);
	for (const run of runs) {
		await expectEnded(run, { status: "completed", exitPath: "done" });
		expect(run.result).toBe(`${run.manifest.task} `.repeat(200));
		expect(run.manifest.counters).toMatchObject({ turns: 2, toolUses: 1 });
	}
	const { cost: _cost, ...tokens } = scene.server.served();
	expect(parentTotals(pi.piRecords())).toMatchObject(tokens);
	expect(scene.server.unexpected()).toEqual([]);
	await pi.close();
});

test("one of two fails, the other one is not touched", async () => {
	const scene = await createScene([
		parent(["GOOD", "BAD"].map((task) => ({ task }))),
		child([{ text: "good" }], "GOOD"),
		child([{ status: 401 }], "BAD"),
	]);
	const pi = new RpcParent(scene);
	await pi.prompt();
	await pi.record("agent_settled");

	const [good, bad] = subagentResults(pi.piRecords());
	expect(good).toMatchObject({ isError: false, text: expect.stringContaining("good") });
	expect(bad).toMatchObject({ isError: true, text: expect.stringContaining("401") });
	expect((await storedRuns(scene)).map(({ manifest }) => manifest.status).toSorted()).toEqual(["completed", "failed"]);
	await pi.close();
});

test("A21: over the limit runs wait in line, seen as queued; stopped there, they never had a process", async () => {
	const scene = await createScene(
		[
			parent(["RUN one", "RUN two", "RUN three"].map((task) => ({ task }))),
			child([{ text: "first", hold: true }, { hang: true }]),
		],
		{ settings: { flightdeck: { concurrency: 1 } } },
	);
	const pi = new RpcParent(scene);
	await pi.prompt();
	const manifests = async (): Promise<RunManifest[]> => {
		const ids = await runIdsIn(scene.agentDir);
		const files = ids.map((id) => join(scene.agentDir, "flightdeck", "runs", id, "run.json"));
		return Promise.all(files.map(async (file) => JSON.parse(await readFile(file, "utf8"))));
	};
	const statuses = async () => (await manifests()).map(({ status }) => status).toSorted();
	const held = await scene.server.held("child");
	await expect.poll(statuses, { timeout: 20_000 }).toEqual(["queued", "queued", "running"]);
	held.release();
	await scene.server.held("child");
	await expect.poll(statuses, { timeout: 20_000 }).toEqual(["completed", "queued", "running"]);
	await pi.command({ type: "abort" });

	expect(await statuses()).toEqual(["completed", "stopped", "stopped"]);
	const neverStarted = (await manifests()).filter(({ attempts }) => attempts[0]?.pid === null);
	expect(neverStarted).toMatchObject([{ status: "stopped", attempts: [{ exit: null }] }]);
	// Two children were started, one after the other, and each made its request.
	expect(scene.server.requests().filter(({ conversation }) => conversation === "child")).toHaveLength(2);
	expect(scene.server.unexpected()).toEqual([]);
	await pi.close();
});
