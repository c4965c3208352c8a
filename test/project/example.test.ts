import { execFile } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, onTestFinished, test } from "vitest";

const example = fileURLToPath(new URL("../../examples/watch-build.ts", import.meta.url));

function run(args: string[]): Promise<{ code: unknown; stdout: string; stderr: string }> {
	return new Promise((resolve) =>
		execFile(process.execPath, [example, ...args], (error, stdout, stderr) =>
			resolve({ code: error?.code ?? 0, stdout, stderr }),
		),
	);
}

test("the example tells what a build complains about, and how it ended", async () => {
	const folder = await mkdtemp(join(tmpdir(), "flightdeck-example-"));
	onTestFinished(() => rm(folder, { recursive: true }));
	const build = join(folder, "build.mjs");
	await writeFile(
		build,
		'console.log("src/a.ts(3,5): error TS2322: no number"); console.error("fine"); process.exit(2);',
	);
	const { code, stdout } = await run([process.execPath, build]);
	expect(stdout).toContain("src/a.ts: TS2322: no number\n");
	expect(stdout).toMatch(/build ended with 2 after \d+ ms, left running: 0/);
	expect(code).toBe(2);
});

test("a build that cannot be started is said to be one", async () => {
	const { code, stderr } = await run(["no-such-build-tool"]);
	expect(stderr).toContain("The program no-such-build-tool was not found on PATH.");
	expect(code).toBe(1);
});
