import { execFile } from "node:child_process";
import * as fs from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { describe, expect, it } from "vitest";
import { NEVER_POLL, openDescriptors, POLL_ONLY, rig, waitFor } from "./log-tailer-harness.ts";

describe("rotation by rename", () => {
	it("C1: goes on with the file that takes the name, by the watcher alone", async () => {
		const { file, tailer, lines } = rig(NEVER_POLL);
		fs.writeFileSync(file, "");
		tailer.start();
		for (let i = 0; i < 3; i++) {
			fs.appendFileSync(file, `before ${i}\n`);
			await lines(i * 2 + 1);
			fs.renameSync(file, `${file}.1`);
			fs.writeFileSync(file, `after ${i}\n`);
			await lines(i * 2 + 2);
		}
		expect(await lines(6)).toEqual(["before 0", "after 0", "before 1", "after 1", "before 2", "after 2"]);
	});

	it("C1: reads what the old file got since the last look before it opens the new one", async () => {
		const { file, tailer, lines, nextPoll } = rig(POLL_ONLY);
		fs.writeFileSync(file, "");
		tailer.start();
		for (let i = 0; i < 10; i++) {
			fs.appendFileSync(file, `${i} last\n`);
			fs.renameSync(file, `${file}.${i}`);
			fs.writeFileSync(file, `${i} first\n`);
			await nextPoll();
		}
		expect(await lines(20)).toEqual(Array.from({ length: 20 }, (_, n) => `${n >> 1} ${n % 2 ? "first" : "last"}`));
	});

	it("delivers an unfinished line as a line of its own", async () => {
		const { file, tailer, lines } = rig();
		fs.writeFileSync(file, "");
		tailer.start();
		fs.appendFileSync(file, "a\ntorn");
		fs.renameSync(file, `${file}.1`);
		fs.writeFileSync(file, "b\n");
		expect(await lines(3)).toEqual(["a", "torn", "b"]);
	});

	it("reads what a writer that still has the old file open adds after the rotation", async () => {
		const { file, tailer, lines } = rig();
		const writer = fs.openSync(file, "a");
		tailer.start();
		fs.renameSync(file, `${file}.1`);
		fs.writeFileSync(file, "new\n");
		await lines(1);
		fs.writeSync(writer, "late\n");
		fs.closeSync(writer);
		expect(await lines(2)).toEqual(["new", "late"]);
	});

	it("reads on after a rename while nothing took the name", async () => {
		const { file, tailer, lines, nextPoll } = rig({}, { leftBehindMs: 1 });
		const writer = fs.openSync(file, "a");
		tailer.start();
		fs.writeSync(writer, "a\nunfin");
		fs.renameSync(file, `${file}.1`);
		await nextPoll();
		fs.writeSync(writer, "ished\n");
		fs.closeSync(writer);
		await lines(2);
		fs.writeFileSync(file, "b\n");
		expect(await lines(3)).toEqual(["a", "unfinished", "b"]);
	});

	it("takes a file that was moved over the path for a new one, even with the same content", async () => {
		const { file, tailer, lines } = rig();
		fs.writeFileSync(file, "");
		tailer.start();
		fs.appendFileSync(file, "same\n");
		await lines(1);
		fs.writeFileSync(`${file}.tmp`, "same\n");
		fs.renameSync(`${file}.tmp`, file);
		expect(await lines(2)).toEqual(["same", "same"]);
	});

	it("A-B-A: goes on where it was when a file gets its name back", async () => {
		const { file, tailer, lines, nextPoll } = rig(POLL_ONLY, { leftBehindMs: 1 });
		fs.writeFileSync(file, "");
		tailer.start();
		fs.appendFileSync(file, "a1\n");
		await lines(1);
		fs.renameSync(file, `${file}.a`);
		fs.writeFileSync(file, "b1\n");
		await lines(2);
		await nextPoll();
		fs.renameSync(file, `${file}.b`);
		fs.renameSync(`${file}.a`, file);
		fs.appendFileSync(file, "a2\n");
		await lines(3);
		fs.renameSync(file, `${file}.a`);
		fs.renameSync(`${file}.b`, file);
		fs.appendFileSync(file, "b2\n");
		expect(await lines(4)).toEqual(["a1", "b1", "a2", "b2"]);
	});

	it("reads a file from its beginning that reuses the inode of one that was let go", async () => {
		const { file, tailer, lines, nextPoll } = rig(POLL_ONLY, { leftBehindMs: 1 });
		fs.writeFileSync(file, "");
		tailer.start();
		const expected: string[] = [];
		const inodes = new Set<bigint>();
		let reused = false;
		for (let i = 0; i < 20 && !reused; i++) {
			// Equal contents: nothing but the birth time tells these files apart.
			fs.appendFileSync(file, "same\n");
			expected.push("same");
			await lines(expected.length);
			fs.rmSync(file);
			await nextPoll();
			await nextPoll();
			fs.writeFileSync(file, "");
			const inode = fs.statSync(file, { bigint: true }).ino;
			reused = inodes.has(inode);
			inodes.add(inode);
		}
		fs.appendFileSync(file, "end\n");
		expect(await lines(expected.length + 1)).toEqual([...expected, "end"]);
		if (process.platform === "linux") expect(reused).toBe(true);
	});

	it("reads a file that is deleted and created within one tick", async () => {
		const { file, tailer, lines } = rig();
		fs.writeFileSync(file, "");
		tailer.start();
		for (let i = 0; i < 10; i++) {
			fs.appendFileSync(file, `${i}\n`);
			fs.rmSync(file);
			fs.writeFileSync(file, "new\n");
			expect(await lines(2 * i + 2)).toHaveLength(2 * i + 2);
		}
		expect(await lines(20)).toEqual(Array.from({ length: 10 }, (_, i) => [`${i}`, "new"]).flat());
	});

	it("lets a deleted file go after a quiet time, with its unfinished line", async () => {
		const { file, tailer, lines } = rig({}, { leftBehindMs: 1 });
		fs.writeFileSync(file, "");
		tailer.start();
		fs.appendFileSync(file, "torn");
		await waitFor(
			() => tailer.getMetrics().bytesRead === 4,
			() => "the read",
		);
		fs.rmSync(file);
		expect(await lines(1)).toEqual(["torn"]);
		await waitFor(
			() => openDescriptors(file).length === 0,
			() => "the descriptor",
		);
	});
});

describe("truncation", () => {
	it("copy-truncate: starts over in a file that became shorter", async () => {
		const { file, tailer, lines } = rig();
		fs.writeFileSync(file, "");
		tailer.start();
		fs.appendFileSync(file, "a long first line\ntorn");
		await lines(1);
		await waitFor(
			() => tailer.getMetrics().bytesRead === 22,
			() => "the torn line",
		);
		fs.copyFileSync(file, `${file}.1`);
		fs.truncateSync(file);
		fs.appendFileSync(file, "b\n");
		expect(await lines(3)).toEqual(["a long first line", "torn", "b"]);
	});

	it("copy-truncate: starts over in a file that grew past the old offset between two looks", async () => {
		const { file, tailer, lines } = rig(POLL_ONLY);
		fs.writeFileSync(file, "old\n");
		tailer.start();
		// Within the tick of the start: no look can have seen the file empty.
		fs.writeFileSync(file, "new and longer\n");
		await lines(1);
		fs.writeFileSync(file, "once more, and longer still\nnext\n");
		expect(await lines(3)).toEqual(["new and longer", "once more, and longer still", "next"]);
	});

	it("copy-truncate: starts over when the new content has the size of the old one", async () => {
		const { file, tailer, lines } = rig(POLL_ONLY);
		fs.writeFileSync(file, "");
		tailer.start();
		for (let i = 0; i < 10; i++) {
			fs.writeFileSync(file, `line ${i}\n`);
			await lines(i + 1);
		}
		expect(await lines(10)).toEqual(Array.from({ length: 10 }, (_, i) => `line ${i}`));
	});

	it("copy-truncate: tells by its head a file whose lines repeat", async () => {
		const { file, tailer, lines } = rig(POLL_ONLY);
		const ticks = "tick\n".repeat(1000);
		fs.writeFileSync(file, `started at 1\n${ticks}`);
		tailer.start();
		fs.writeFileSync(file, `started at 2\n${ticks}tick\n`);
		expect((await lines(1002))[0]).toBe("started at 2");
		expect(await lines(1002)).toHaveLength(1002);
	});

	it("C2: goes on where a writer without O_APPEND goes on, after the NULs in front", async () => {
		const { file, tailer, lines, nextPoll } = rig(POLL_ONLY);
		const writer = fs.openSync(file, "w");
		tailer.start();
		fs.writeSync(writer, `${"a".repeat(100)}\n`);
		await lines(1);
		fs.truncateSync(file);
		fs.writeSync(writer, "b\n");
		await lines(2);
		fs.truncateSync(file);
		await nextPoll();
		fs.writeSync(writer, "c\nd\n");
		fs.closeSync(writer);
		expect(await lines(4)).toEqual(["a".repeat(100), "b", "c", "d"]);
	});

	it("C2: holds nothing of padding that is longer than a line may be", async () => {
		const { directory, tailer, lines, nextPoll } = rig({ type: "directory", ...POLL_ONLY, maxLineBytes: 1000 });
		tailer.start();
		const writer = fs.openSync(join(directory, "a.log"), "w");
		fs.writeSync(writer, "a-sta", 1_000_000);
		await nextPoll();
		fs.writeFileSync(join(directory, "b.log"), "b\n");
		await lines(1);
		fs.writeSync(writer, "rt\n", 1_000_005);
		fs.closeSync(writer);
		expect(await lines(2)).toEqual(["b", "a-start"]);
	});

	it("C5: ignores NULs at the end, whether they are filled, followed or cut off", async () => {
		const { file, tailer, lines, nextPoll } = rig(POLL_ONLY);
		fs.writeFileSync(file, `old\n${"\0".repeat(100)}`);
		tailer.start();
		fs.appendFileSync(file, "followed\n\0\0\0\0\0");
		await lines(1);
		await nextPoll();
		fs.truncateSync(file, fs.statSync(file).size - 5);
		fs.appendFileSync(file, "cut\n\0\0\0\0\0\0\0");
		await lines(2);
		await nextPoll();
		const writer = fs.openSync(file, "r+");
		fs.writeSync(writer, "filled\n", fs.statSync(file).size - 7);
		fs.closeSync(writer);
		expect(await lines(3)).toEqual(["followed", "cut", "filled"]);
		fs.appendFileSync(file, "\0\0");
		await nextPoll();
		await tailer.stop();
		expect(await lines(3)).toHaveLength(3);
		expect(tailer.getMetrics().linesFed).toBe(3);
	});

	it("C5: delivers a torn last line once", async () => {
		const { file, tailer, lines, nextPoll } = rig(POLL_ONLY);
		tailer.start();
		fs.writeFileSync(file, '{"a":1}\n{"b":');
		await lines(1);
		await nextPoll();
		await tailer.stop();
		expect(await lines(2)).toEqual(['{"a":1}', '{"b":']);
	});
});

describe("under load", () => {
	it.each([
		{ type: "file", archive: "x.log.1" },
		{ type: "directory", archive: "x.1.log" },
	] as const)(
		"loses no line and repeats none while a process writes and rotates ($type)",
		async ({ type, archive }) => {
			const { directory, file, tailer, sink } = rig({ type, pollIntervalMs: 50 });
			tailer.start();
			const script = `
			const fs = require("node:fs");
			process.chdir(${JSON.stringify(directory)});
			const wait = (ms) => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
			for (let i = 0, fd = fs.openSync("x.log", "a"); i < 20000; i++) {
				fs.writeSync(fd, "line " + i + (i % 7 ? "\\n" : " " + "x".repeat(i % 3000) + "\\n"));
				if (i % 50 === 0) wait(1);
				if (i % 1000 === 999) {
					wait(120);
					fs.closeSync(fd);
					fs.renameSync("x.log", ${JSON.stringify(archive)});
					fd = fs.openSync("x.log", "a");
				}
			}`;
			await promisify(execFile)(process.execPath, ["-e", script], { timeout: 60_000 });
			await tailer.stop();
			expect(sink.lines.map((line) => Number(line.split(" ")[1]))).toEqual(Array.from({ length: 20_000 }, (_, i) => i));
			expect(tailer.getMetrics()).toMatchObject({ linesFed: 20_000, readErrors: 0, currentFile: file });
		},
		60_000,
	);
});
