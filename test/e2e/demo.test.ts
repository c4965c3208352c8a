import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, onTestFinished, test } from "vitest";

const demo = fileURLToPath(new URL("../../scripts/demo.ts", import.meta.url));

function run(args: string[]): Promise<{ code: unknown; stdout: string; stderr: string }> {
	return new Promise((resolve) =>
		execFile(process.execPath, [demo, ...args], { timeout: 60_000 }, (error, stdout, stderr) =>
			resolve({ code: error?.code ?? 0, stdout, stderr }),
		),
	);
}

test("the demo shows progress, the answer, the cost and the record, and its totals are the server's", async () => {
	const { code, stdout, stderr } = await run([]);
	const record = /^The record of the run: (.+)$/m.exec(stdout)?.[1] ?? "";
	onTestFinished(() => rm(dirname(dirname(record)), { recursive: true, force: true }));
	expect(stderr).toBe("");
	expect(code).toBe(0);
	expect(stdout).toContain("[done] read src/config.js");
	expect(stdout).toMatch(/Run \w{8} completed · 3 turns · 2 tool uses/);
	expect(stdout).toContain("Configuration is read in `src/config.js`, line 3");
	expect(stdout).toContain("pi's totals are what the model server served: 4873 in, 166 out, 6030 cached");
	expect(existsSync(join(record, "summary.md"))).toBe(true);
});

test("--help says how to use a real model, and arguments that make no sense get that help too", async () => {
	expect(await run(["--help"])).toMatchObject({ code: 0, stdout: expect.stringContaining("--model <provider/id>") });
	expect(await run(["a task without a model"])).toMatchObject({ code: 2, stderr: expect.stringContaining("--model") });
});
