import { existsSync, statSync } from "node:fs";
import { mkdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test, vi } from "vitest";
import { Journal } from "../../src/records/journal.ts";
import { tempFolder } from "../support/temp-folder.ts";

const asItIs = (text: string) => text;

async function entriesOf(path: string): Promise<Record<string, unknown>[]> {
	const text = await readFile(path, "utf8");
	expect(text.endsWith("\n")).toBe(true);
	return text
		.slice(0, -1)
		.split("\n")
		.map((line) => JSON.parse(line));
}

describe("a journal", () => {
	test("keeps what was appended, in order, each with its time, and close waits for all of it", async () => {
		await using folder = await tempFolder();
		const path = join(folder.path, "events.jsonl");
		const journal = new Journal(path, asItIs);
		const before = Date.now();
		for (let n = 0; n < 5000; n++) journal.append({ type: "x", n, text: "a\u2028\nb" });
		await journal.close();
		const entries = await entriesOf(path);
		expect(entries.map(({ n }) => n)).toEqual(Array.from({ length: 5000 }, (_, n) => n));
		expect(entries[0]).toMatchObject({ type: "x", text: "a\u2028\nb" });
		expect(Date.parse(String(entries[0]?.ts))).toBeGreaterThanOrEqual(before);
		expect(journal.failure).toBeUndefined();
	});

	test("takes appends while it writes", async () => {
		await using folder = await tempFolder();
		const path = join(folder.path, "events.jsonl");
		const journal = new Journal(path, asItIs);
		const appender = async (who: string) => {
			for (let n = 0; n < 200; n++) {
				journal.append({ type: "x", who, n, filler: "y".repeat(2000) });
				await new Promise(setImmediate);
			}
		};
		await Promise.all(["a", "b", "c"].map(appender));
		await journal.close();
		const entries = await entriesOf(path);
		expect(entries).toHaveLength(600);
		for (const who of ["a", "b", "c"])
			expect(entries.filter((entry) => entry.who === who).map(({ n }) => n)).toEqual(
				Array.from({ length: 200 }, (_, n) => n),
			);
	});

	test("goes on where an earlier one ended", async () => {
		await using folder = await tempFolder();
		const path = join(folder.path, "events.jsonl");
		for (const n of [1, 2]) {
			const journal = new Journal(path, asItIs);
			journal.append({ type: "x", n });
			await journal.close();
		}
		expect((await entriesOf(path)).map(({ n }) => n)).toEqual([1, 2]);
	});

	test("is masked, and for its owner alone", async () => {
		await using folder = await tempFolder();
		const path = join(folder.path, "events.jsonl");
		const journal = new Journal(path, (text) => text.replaceAll("secret", "[redacted]"));
		journal.append({ type: "x", text: "a secret" });
		await journal.close();
		expect(await entriesOf(path)).toMatchObject([{ text: "a [redacted]" }]);
		if (process.platform !== "win32") expect((await stat(path)).mode & 0o777).toBe(0o600);
	});

	test("closed takes nothing more; closing twice is fine", async () => {
		await using folder = await tempFolder();
		const path = join(folder.path, "events.jsonl");
		const journal = new Journal(path, asItIs);
		journal.append({ type: "x" });
		await Promise.all([journal.close(), journal.close()]);
		journal.append({ type: "late" });
		await journal.close();
		expect(await entriesOf(path)).toMatchObject([{ type: "x" }]);
	});

	test("nothing was appended to makes no file", async () => {
		await using folder = await tempFolder();
		const path = join(folder.path, "events.jsonl");
		await new Journal(path, asItIs).close();
		await expect(stat(path)).rejects.toThrow(/ENOENT/);
	});
});

describe("a journal on a disk that fails", () => {
	test.each([
		["its folder is gone", async (path: string) => rm(join(path, ".."), { recursive: true }), /ENOENT/],
		["its path is a folder", async (path: string) => mkdir(path), /EISDIR|EPERM|EACCES/],
		[
			"its folder is a file",
			async (path: string) => {
				await rm(join(path, ".."), { recursive: true });
				await writeFile(join(path, ".."), "");
			},
			/ENOTDIR|ENOENT/,
		],
	])("because %s says why, and never throws", async (_why, damage, failure) => {
		await using folder = await tempFolder();
		const path = join(folder.path, "run", "events.jsonl");
		await mkdir(join(path, ".."));
		await damage(path);
		const journal = new Journal(path, asItIs);
		for (let n = 0; n < 100; n++) {
			journal.append({ type: "x", n });
			await new Promise(setImmediate);
		}
		await journal.close();
		expect(journal.failure).toMatch(failure);
	});

	test("that takes nothing is given up before memory is full", async () => {
		await using folder = await tempFolder();
		const journal = new Journal(join(folder.path, "events.jsonl"), asItIs);
		const text = "x".repeat(1024 * 1024);
		// All in one tick: nothing can be written in between.
		for (let n = 0; n < 65; n++) journal.append({ type: "x", text });
		expect(journal.failure).toBe("the disk is too slow for the journal");
		await journal.close();
	});
});

describe("an entry that is no JSON", () => {
	const circle: Record<string, unknown> = {};
	circle.self = circle;

	test.each([
		["because of a circle", circle, "circular"],
		["because of a bigint", { n: 1n }, "BigInt"],
	])("%s costs its fields only", async (_why, fields, reason) => {
		await using folder = await tempFolder();
		const path = join(folder.path, "events.jsonl");
		const journal = new Journal(path, asItIs);
		journal.append({ ...fields, type: "odd" });
		journal.append({ type: "next" });
		await journal.close();
		expect(await entriesOf(path)).toMatchObject([
			{ type: "odd", unreadable: expect.stringContaining(reason), ts: expect.any(String) },
			{ type: "next" },
		]);
	});
});

describe("a program that ends in this tick", () => {
	test("still has everything written, in order, also what waits behind a write under way", async () => {
		await using folder = await tempFolder();
		const path = join(folder.path, "events.jsonl");
		const journal = new Journal(path, asItIs);
		journal.append({ type: "first" });
		journal.append({ type: "second" });
		journal.closeNow();
		journal.append({ type: "too late" });
		const types = (await entriesOf(path)).map(({ type }) => type);
		// A batch under way may come twice, and never goes missing.
		expect(types.slice(0, 2)).toEqual(["first", "second"]);
		expect(types).not.toContain("too late");
		expect(journal.failure).toBeUndefined();
	});

	test("has its last word last, and a batch that another thread is writing only once", async () => {
		await using folder = await tempFolder();
		const path = join(folder.path, "events.jsonl");
		const journal = new Journal(path, asItIs);
		journal.append({ type: "first" });
		await vi.waitUntil(() => existsSync(path) && statSync(path).size > 0);
		// A turn, so that the next batch is a new one; then some, until it is on its way.
		await new Promise((resolve) => setImmediate(resolve));
		journal.append({ type: "second", text: "x".repeat(256 * 1024) });
		for (let n = 0; n < 5; n++) await Promise.resolve();
		journal.append({ type: "last" });
		journal.closeNow();
		await journal.close();
		expect((await entriesOf(path)).map(({ type }) => type)).toEqual(["first", "second", "last"]);
	});
});

test("a journal that was deleted while it was written is not whole", async () => {
	await using folder = await tempFolder();
	const path = join(folder.path, "events.jsonl");
	const journal = new Journal(path, asItIs);
	journal.append({ type: "first" });
	await vi.waitUntil(() => existsSync(path));
	await rm(path);
	journal.append({ type: "second" });
	await journal.close();
	expect(journal.failure).toBe("the journal was deleted while it was written");
});
