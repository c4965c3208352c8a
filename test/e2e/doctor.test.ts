import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { PI_CLI } from "../../support/run-pi.ts";
import { flightdeck } from "../support/e2e-command.ts";
import { agentFile, createScene } from "../support/e2e-scene.ts";

test("all that a run needs is there", async () => {
	const scene = await createScene([], { agents: { "mine.md": agentFile({ name: "mine" }) } });
	const { code, stdout } = await flightdeck(scene, ["doctor", "--pi", PI_CLI]);
	expect(code).toBe(0);
	expect(stdout).toContain("agents: mine (user), planner, reviewer, scout, worker");
	expect(stdout).not.toMatch(/^(?:warning|error)/m);
});

test("a program that is not pi, and a pi that is not there, are errors", async () => {
	const scene = await createScene([]);
	const other = join(scene.cwd, "other.mjs");
	await writeFile(other, 'console.log("something else");');
	const notPi = await flightdeck(scene, ["doctor", "--pi", other]);
	expect(notPi.code).toBe(1);
	expect(notPi.stdout).toContain("is not pi: it names no version.");
	const missing = await flightdeck(scene, ["doctor", "--pi", join(scene.cwd, "nowhere")]);
	expect(missing.code).toBe(1);
	expect(missing.stdout).toContain("nowhere is no file");
});

test("a pi without a model, a broken agent file and a records folder in the way are said", async () => {
	const scene = await createScene([], {
		agents: { "broken.md": "---\nname: broken\ndescription: 3\ntools: 7\n---\n" },
	});
	await writeFile(join(scene.agentDir, "models.json"), "{}");
	await writeFile(join(scene.cwd, "file"), "");
	const { code, stdout } = await flightdeck(scene, ["doctor", "--pi", PI_CLI], {
		env: { PI_FLIGHTDECK_DIR: join(scene.cwd, "file") },
	});
	expect(code).toBe(1);
	expect(stdout).toMatch(/^warning pi has no model to run with/m);
	expect(stdout).toMatch(/^warning .*broken\.md/m);
	expect(stdout).toMatch(/^error +records cannot be written/m);
});
