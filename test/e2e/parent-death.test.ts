import { existsSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { startFlightdeck } from "../support/e2e-command.ts";
import { carriersOf, eventually, isAlive, msUntilGone } from "../support/e2e-processes.ts";
import { runIdsIn } from "../support/e2e-records.ts";
import { RpcParent } from "../support/e2e-rpc-parent.ts";
import { bash, child, createScene, FORMS, parent, type Scene } from "../support/e2e-scene.ts";

/** Two processes that heed signals, and one in a session of its own that ignores them. */
const LONG_WORK = child([
	bash("sleep 300 & setsid sh -c 'trap \"\" TERM HUP INT; touch ready; sleep 302; sleep 303' & sleep 301"),
]);
/** All must be gone so many ms after the parent was killed. */
const LIMIT_MS = 3000;

async function inToolCall(scene: Scene): Promise<string> {
	await eventually(() => existsSync(join(scene.cwd, "ready")) || undefined);
	const [runId = ""] = await runIdsIn(scene.agentDir);
	await eventually(async () => ((await carriersOf(runId)).length >= 6 ? true : undefined));
	return runId;
}

test.each(FORMS)("a pi that is killed takes child, tool and daemon along ($form)", async ({ extension }) => {
	const scene = await createScene([parent({ task: "Go" }), LONG_WORK]);
	const pi = new RpcParent(scene, { extension });
	await pi.prompt();
	const runId = await inToolCall(scene);

	const [ms] = await Promise.all([msUntilGone(runId), pi.kill()]);

	expect(await isAlive(pi.pid ?? 0)).toBe(false);
	expect(ms).toBeLessThan(LIMIT_MS);
});

test("a command that is killed takes child, tool and daemon along", async () => {
	const scene = await createScene([LONG_WORK]);
	const { process, ended } = startFlightdeck(scene, ["run", "worker", "Go"]);
	const runId = await inToolCall(scene);

	process.kill("SIGKILL");

	expect(await msUntilGone(runId)).toBeLessThan(LIMIT_MS);
	await ended;
});
