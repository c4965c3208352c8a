import { expect, test } from "vitest";
import { startFlightdeck } from "../support/e2e-command.ts";
import { aliveOf, inLongWork, LONG_WORK, longWorkScene } from "../support/e2e-long-work.ts";
import { isAlive, msUntilGone } from "../support/e2e-processes.ts";
import { RpcParent } from "../support/e2e-rpc-parent.ts";
import { createScene, FORMS, parent } from "../support/e2e-scene.ts";

/** All must be gone so many ms after the parent was killed. */
const LIMIT_MS = 3000;

test.each(FORMS)("A11: a pi that is killed takes child, tool and daemon along ($form)", async ({ extension }) => {
	const scene = await createScene([parent({ task: "Go" }), LONG_WORK], longWorkScene({ stubborn: true }));
	const pi = new RpcParent(scene, { extension });
	await pi.prompt();
	const { runId, pids } = await inLongWork(scene);

	const [ms] = await Promise.all([msUntilGone(runId), pi.kill()]);

	expect(await isAlive(pi.pid ?? 0)).toBe(false);
	// One that is being torn down shows no environment any more, and is in the table a moment longer.
	await expect.poll(() => aliveOf(pids), { timeout: 5_000 }).toEqual([]);
	expect(ms).toBeLessThan(LIMIT_MS);
});

test("A11: a command that is killed takes child, tool and daemon along", async () => {
	const scene = await createScene([LONG_WORK], longWorkScene({ stubborn: true }));
	const { process, ended } = startFlightdeck(scene, ["run", "worker", "Go"]);
	const { runId, pids } = await inLongWork(scene);

	process.kill("SIGKILL");

	expect(await msUntilGone(runId)).toBeLessThan(LIMIT_MS);
	// One that is being torn down shows no environment any more, and is in the table a moment longer.
	await expect.poll(() => aliveOf(pids), { timeout: 5_000 }).toEqual([]);
	await ended;
});

test("a second signal ends the command at once, and its child all the same", async () => {
	const scene = await createScene([LONG_WORK], longWorkScene({ stubborn: true }));
	const { process, ended } = startFlightdeck(scene, ["run", "worker", "Go"]);
	const { runId, pids } = await inLongWork(scene);

	// Two different ones: of the same signal one can be pending at most.
	process.kill("SIGINT");
	process.kill("SIGTERM");

	expect((await ended).code).toBe(130);
	expect(await msUntilGone(runId)).toBeLessThan(LIMIT_MS);
	// One that is being torn down shows no environment any more, and is in the table a moment longer.
	await expect.poll(() => aliveOf(pids), { timeout: 5_000 }).toEqual([]);
});
