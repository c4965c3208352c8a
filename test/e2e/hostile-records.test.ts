import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { flightdeck, startFlightdeck } from "../support/e2e-command.ts";
import { aliveOf, inLongWork, LONG_WORK, longWorkScene } from "../support/e2e-long-work.ts";
import { fencedOutput, onlyResult, runParent } from "../support/e2e-parent.ts";
import { eventually, msUntilGone } from "../support/e2e-processes.ts";
import { expectEnded, manifestNow, onlyRun, runsFolder } from "../support/e2e-records.ts";
import { bash, child, createScene, parent, type Scene } from "../support/e2e-scene.ts";

/** In the order in which a run goes through them; it may end from any of them. */
const STATUSES = ["queued", "starting", "running", "stopping", "completed", "failed", "stopped"];

const atStatus = (scene: Scene, status: string) =>
	eventually(() => {
		const manifest = manifestNow(scene);
		return manifest?.status === status ? manifest : undefined;
	});

/** A shell command in the folder of the only run. */
const inRecord = (command: string) => bash(`cd "$PI_CODING_AGENT_DIR"/flightdeck/runs/*/ && ${command}`);

test("run.json is whole at every moment and goes from start over running to the end", async () => {
	const scene = await createScene([child([bash("true"), { text: "the answer", hold: true }])]);
	const { ended } = startFlightdeck(scene, ["run", "worker", "x".repeat(100_000)]);
	const seen = new Set<string>();
	let reading = true;
	const read = async () => {
		while (reading) {
			const status = manifestNow(scene)?.status;
			if (status) seen.add(status);
			await new Promise((resolve) => setImmediate(resolve));
		}
	};
	const reader = read();
	const held = await scene.server.held();
	// Not before the reader had its chance: on a busy machine it gets it late.
	await atStatus(scene, "running");
	held.release();
	expect((await ended).code).toBe(0);
	seen.add(manifestNow(scene)?.status ?? "");
	reading = false;
	await reader;

	const order = [...seen];
	expect(order).toEqual(order.toSorted((a, b) => STATUSES.indexOf(a) - STATUSES.indexOf(b)));
	expect(order).toContain("running");
	expect(order.at(-1)).toBe("completed");
});

test("of a command that was killed run.json tells that it was running, and whose process to look for", async () => {
	const scene = await createScene([LONG_WORK], longWorkScene());
	const { process, ended } = startFlightdeck(scene, ["run", "worker", "Go"]);
	const { runId } = await inLongWork(scene);
	await eventually(() => manifestNow(scene)?.attempts[0]?.pid ?? undefined);

	process.kill("SIGKILL");

	await ended;
	await msUntilGone(runId);
	expect(manifestNow(scene)).toMatchObject({ status: "running", completedAt: null, owner: { pid: process.pid } });
});

test("a second Ctrl-C while the run is being stopped: the record has its last word, and nothing is left", async () => {
	const scene = await createScene([LONG_WORK], longWorkScene({ stubborn: true }));
	const { process, ended } = startFlightdeck(scene, ["run", "worker", "Go"]);
	const { runId, pids } = await inLongWork(scene);
	process.kill("SIGINT");
	await atStatus(scene, "stopping");
	process.kill("SIGINT");

	expect((await ended).code).toBe(130);
	const manifest = manifestNow(scene);
	expect(manifest).toMatchObject({ status: "stopped", exitPath: "stopped", reason: "stopped by the user" });
	expect(manifest?.completedAt).not.toBeNull();
	const journal = readFileSync(join(runsFolder(scene), runId, "events.jsonl"), "utf8")
		.trimEnd()
		.split("\n");
	const types = journal.map((line) => JSON.parse(line).type);
	expect(types).toContain("stop-request");
	expect(types.at(-1)).toBe("run-end");
	await msUntilGone(runId);
	// One that is being torn down shows no environment any more, and is in the table a moment longer.
	await expect.poll(() => aliveOf(pids), { timeout: 5_000 }).toEqual([]);
});

test("a pipe in the place of the journal holds up no second Ctrl-C", async ({ skip }) => {
	skip(process.platform === "win32", "Windows has no named pipes in folders");
	const plant =
		'trap "" INT TERM HUP; rm events.jsonl; mkfifo events.jsonl; touch "$OLDPWD"/planted; sleep 300; sleep 300';
	const scene = await createScene([child([inRecord(plant)])]);
	const { process: command, ended } = startFlightdeck(scene, ["run", "worker", "Go"]);
	await eventually(() => existsSync(join(scene.cwd, "planted")) || undefined);
	command.kill("SIGINT");
	const manifest = await atStatus(scene, "stopping");
	command.kill("SIGINT");

	expect((await ended).code).toBe(130);
	expect(manifestNow(scene)).toMatchObject({ status: "stopped" });
	await msUntilGone(manifest.runId);
});

test("a child that deletes the record's files: the end is written all the same, and the loss is told", async () => {
	const scene = await createScene([
		parent({ task: "Go" }),
		child([inRecord("rm run.json events.jsonl"), { text: "the answer" }]),
	]);

	const result = onlyResult((await runParent(scene)).results);

	expect(result.isError).toBe(false);
	expect(fencedOutput(result.text)).toBe("the answer");
	expect(result.text).toContain("Warning: the run record is incomplete: the journal was deleted");
	const manifest = manifestNow(scene);
	expect(manifest).toMatchObject({ status: "completed", recordComplete: false });
	const dir = join(runsFolder(scene), manifest?.runId ?? "");
	expect(readFileSync(join(dir, "result-1.md"), "utf8")).toBe("the answer");
	expect(readFileSync(join(dir, "summary.md"), "utf8")).toContain("# worker: completed");
});

test("a child that deletes all records, its own session among them: the folder is made again for the end", async () => {
	const wipe = bash('rm -r "$PI_CODING_AGENT_DIR"/flightdeck');
	const scene = await createScene([child([wipe, { text: "the answer" }])]);

	const run = await flightdeck(scene, ["run", "worker", "Go"]);

	expect(run.stderr).toContain("warning: the record is incomplete: ");
	const manifest = manifestNow(scene);
	expect(manifest).toMatchObject({ recordComplete: false });
	expect(manifest?.completedAt).not.toBeNull();
	expect(manifest?.attempts[0]?.exit).toMatchObject({ code: 0 });
});

test("pipes planted in the folder of the record hang nothing", async ({ skip }) => {
	skip(process.platform === "win32", "Windows has no named pipes in folders");
	const plant = `for i in $(seq 20); do for f in run.json summary.md; do mkfifo $f.tmp$i $f.$i.tmp $f.${"$PPID"}-$i.tmp; done; done; mkfifo result-1.md`;
	const scene = await createScene([child([inRecord(plant), { text: "the answer" }])]);

	const run = await flightdeck(scene, ["run", "worker", "Go"]);

	expect(run).toMatchObject({ code: 0, stdout: "the answer\n" });
	expect(run.stderr).toContain("warning: the record is incomplete: EEXIST");
	expect(manifestNow(scene)).toMatchObject({ status: "completed", recordComplete: false });
});

test("secrets that look like parts of the record are masked in its strings, and leave it readable", async () => {
	const env = {
		A_KEY: '"status": "completed",',
		B_TOKEN: '","message":{"role"',
		C_SECRET: '{"type":"agent_settled"',
		D_PASSWORD: new Date().toISOString().slice(0, 13),
	};
	const spoken = `a ${env.A_KEY} b ${env.B_TOKEN} c ${env.C_SECRET} d ${env.D_PASSWORD}`;
	const scene = await createScene([child([{ text: spoken }])]);

	const run = await flightdeck(scene, ["run", "worker", spoken], { env });

	// To whoever asked the answer goes as it is; what is kept is masked.
	expect(run).toMatchObject({ code: 0, stdout: `${spoken}\n` });
	const masked = "a [redacted] b [redacted] c [redacted] d [redacted]";
	const stored = await onlyRun(scene);
	await expectEnded({ ...stored }, { status: "completed", exitPath: "done" });
	expect(stored.manifest.task).toBe(masked);
	expect(stored.result).toBe(masked);
	const said = stored.journal.filter(({ type }) => type === "message_end").map((entry) => JSON.stringify(entry));
	expect(said.join()).toContain(masked);
	for (const secret of [env.A_KEY, env.B_TOKEN])
		expect(JSON.stringify(stored.journal)).not.toContain(JSON.stringify(secret).slice(1, -1));
});
