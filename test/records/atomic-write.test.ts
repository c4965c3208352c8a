import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, readdir, readFile, stat, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { writeAtomically } from "../../src/records/atomic-write.ts";
import { tempFolder } from "../support/temp-folder.ts";

const WRITER = fileURLToPath(new URL("../support/rewrite-file.ts", import.meta.url));

describe("writeAtomically", () => {
	test("makes and replaces a file, with mode 0600 and nothing beside it", async () => {
		await using folder = await tempFolder();
		const path = join(folder.path, "run.json");
		await writeAtomically(path, "one");
		await writeAtomically(path, "zwei \u2028 \u{1f600}");
		expect(await readFile(path, "utf8")).toBe("zwei \u2028 \u{1f600}");
		expect(await readdir(folder.path)).toEqual(["run.json"]);
		if (process.platform !== "win32") expect((await stat(path)).mode & 0o777).toBe(0o600);
	});

	test("that fails says so, leaves the old content and nothing beside it", async () => {
		await using folder = await tempFolder();
		const path = join(folder.path, "taken");
		await mkdir(join(path, "inside"), { recursive: true });
		await expect(writeAtomically(path, "x")).rejects.toThrow(/EISDIR|ENOTEMPTY|EEXIST|EPERM/);
		expect(await readdir(folder.path)).toEqual(["taken"]);
		expect(await readdir(path)).toEqual(["inside"]);
	});

	test.each([
		["that is missing", "missing/run.json", /ENOENT/],
		["that is a file", "file/run.json", /ENOTDIR|ENOENT/],
	])("in a folder %s rejects", async (_which, name, message) => {
		await using folder = await tempFolder();
		await writeFile(join(folder.path, "file"), "");
		await expect(writeAtomically(join(folder.path, name), "x")).rejects.toThrow(message);
	});

	test.runIf(process.platform !== "win32")("replaces a link and not what it points to", async () => {
		await using folder = await tempFolder();
		const [target, link] = [join(folder.path, "target"), join(folder.path, "link")];
		await writeFile(target, "precious");
		await symlink(target, link);
		await writeAtomically(link, "new");
		expect([await readFile(target, "utf8"), await readFile(link, "utf8")]).toEqual(["precious", "new"]);
	});

	test("killed in the middle, again and again, leaves a whole file at every moment", async () => {
		await using folder = await tempFolder();
		const path = join(folder.path, "run.json");
		let looks = 0;
		for (let round = 0; round < 8; round++) {
			const writer = spawn(process.execPath, [WRITER, path], { stdio: ["ignore", "pipe", "inherit"] });
			const closed = once(writer, "close");
			try {
				await once(writer.stdout, "data");
				const end = performance.now() + 30 + round * 7;
				do {
					const { n, end: last, filler } = JSON.parse(await readFile(path, "utf8"));
					expect([n, filler.length]).toEqual([last, 300_000]);
					looks++;
					await sleep(1);
				} while (performance.now() < end);
			} finally {
				writer.kill("SIGKILL");
				await closed;
			}
			expect(JSON.parse(await readFile(path, "utf8")).filler).toHaveLength(300_000);
		}
		expect(looks).toBeGreaterThan(8);
	});
});
