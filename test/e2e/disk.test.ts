import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { flightdeck } from "../support/e2e-command.ts";
import { onlyResult, runParent } from "../support/e2e-parent.ts";
import { child, createScene, parent } from "../support/e2e-scene.ts";

test("a file where the records should be costs the record, not the run, and both faces say so", async () => {
	const scene = await createScene([parent({ task: "Go" }), child(() => ({ text: "the answer" }))]);
	const folder = join(scene.cwd, "taken");
	await writeFile(folder, "");
	const env = { PI_FLIGHTDECK_DIR: folder };
	const command = await flightdeck(scene, ["run", "worker", "Go"], { env });
	expect(command).toMatchObject({ code: 0, stdout: "the answer\n" });
	expect(command.stderr).toContain("warning: the record is incomplete: ");
	expect(command.stderr).not.toContain("record: /");
	const run = await runParent({ ...scene, env: { ...scene.env, ...env } });
	const { text, isError } = onlyResult(run.results);
	expect(isError).toBe(false);
	expect(text).toContain("the answer");
	expect(text).toContain("Warning: the run record is incomplete: ");
	expect(text).not.toContain("Record: ");
});

test("a record whose own files cannot be written does not hold up the run", async () => {
	const scene = await createScene([child([{ text: "the answer" }])]);
	const folder = join(scene.cwd, "records");
	// The folder for runs is a file: known only when the run makes its own.
	await mkdir(folder);
	await writeFile(join(folder, "runs"), "");
	const command = await flightdeck(scene, ["run", "worker", "Go"], { env: { PI_FLIGHTDECK_DIR: folder } });
	expect(command).toMatchObject({ code: 0, stdout: "the answer\n" });
});
