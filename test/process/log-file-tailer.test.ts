import { execFile } from "node:child_process";
import * as fs from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { describe, expect, it } from "vitest";
import { LogFileTailer } from "../../src/process/log-file-tailer.ts";
import {
	CollectingSink,
	NEVER_POLL,
	openDescriptors,
	POLL_ONLY,
	rig,
	temporaryDirectory,
	waitFor,
} from "./log-tailer-harness.ts";

describe("where reading begins", () => {
	it("reads a file that was there from its end, what is written in the tick of the start included", async () => {
		const { file, tailer, lines } = rig();
		fs.writeFileSync(file, "old\n");
		tailer.start();
		fs.appendFileSync(file, "new\n");
		expect(await lines(1)).toEqual(["new"]);
	});

	it("reads a file that appears later from its beginning", async () => {
		const { file, tailer, lines, nextPoll } = rig(POLL_ONLY);
		tailer.start();
		await nextPoll();
		fs.writeFileSync(file, "one\ntwo\n");
		expect(await lines(2)).toEqual(["one", "two"]);
	});

	it("creates a missing directory with its parents, for its owner only", async () => {
		const directory = join(temporaryDirectory(), "a", "b");
		const { file, tailer, lines } = rig({ ...NEVER_POLL, path: directory });
		tailer.start();
		expect(fs.statSync(directory).isDirectory()).toBe(true);
		if (process.platform !== "win32") expect(fs.statSync(directory).mode & 0o777).toBe(0o700);
		fs.writeFileSync(file, "one\n");
		expect(await lines(1)).toEqual(["one"]);
	});

	it("starts when the way to a directory that could not be created is free", async () => {
		const parent = join(temporaryDirectory(), "p");
		fs.writeFileSync(parent, "a file in the way");
		const { file, tailer, lines } = rig({ path: join(parent, "logs") });
		tailer.start();
		expect(tailer.getMetrics().readErrors).toBeGreaterThan(0);
		fs.rmSync(parent);
		await waitFor(
			() => fs.existsSync(join(parent, "logs")),
			() => "the directory",
		);
		fs.writeFileSync(file, "one\n");
		expect(await lines(1)).toEqual(["one"]);
	});

	it("C6: drops the rest of a line whose start it did not read, and goes on with the next one", async () => {
		const { file, tailer, lines } = rig();
		fs.writeFileSync(file, `{"a":1}\n{"huge":"${"x".repeat(1_000_000)}`);
		tailer.start();
		fs.appendFileSync(file, "x".repeat(1_000_000));
		await waitFor(
			() => tailer.getMetrics().bytesRead === 1_000_000,
			() => "the rest",
		);
		fs.appendFileSync(file, '"}\n{"b":2}\n');
		expect(await lines(1)).toEqual(['{"b":2}']);
		expect(tailer.getMetrics().linesFed).toBe(1);
	});

	it("reads nothing of a directory or a FIFO in the place of the file", async () => {
		const { file, tailer, lines, nextPoll } = rig(POLL_ONLY);
		fs.mkdirSync(file);
		tailer.start();
		await nextPoll();
		fs.rmdirSync(file);
		if (process.platform !== "win32") {
			await promisify(execFile)("mkfifo", [file]);
			await nextPoll();
			fs.rmSync(file);
		}
		fs.writeFileSync(file, "one\n");
		expect(await lines(1)).toEqual(["one"]);
		expect(tailer.getMetrics().readErrors).toBe(0);
	});
});

describe("lines", () => {
	it("delivers a line when it is complete, blank lines too, under the name of the source", async () => {
		const { file, tailer, sink, lines, nextPoll } = rig(POLL_ONLY);
		tailer.start();
		for (const piece of ["a", "b\n", "\n", "c\nd"]) {
			fs.appendFileSync(file, piece);
			await nextPoll();
		}
		expect(await lines(3)).toEqual(["ab", "", "c"]);
		expect([...sink.sources]).toEqual(["log-file:log"]);
		expect(tailer.getMetrics()).toMatchObject({ bytesRead: 7, linesFed: 3, currentOffset: 7, currentFile: file });
	});

	it("delivers an unfinished last line at the stop", async () => {
		const { file, tailer, sink } = rig(NEVER_POLL);
		tailer.start();
		fs.appendFileSync(file, "a\nb");
		await tailer.stop();
		expect(sink.lines).toEqual(["a", "b"]);
		expect(tailer.getMetrics().linesFed).toBe(2);
	});

	it("keeps a line of 8 MB whole that comes in many pieces", async () => {
		const { file, tailer, lines } = rig();
		tailer.start();
		const piece = "0123456789abcdef".repeat(32_768);
		for (let i = 0; i < 16; i++) {
			fs.appendFileSync(file, piece);
			await new Promise((resolve) => setImmediate(resolve));
		}
		fs.appendFileSync(file, "\nnext\n");
		expect(await lines(2)).toEqual([piece.repeat(16), "next"]);
	});

	it("C9: reads a large backlog in bounded pieces, while the event loop goes on turning", async () => {
		const { file, directory, tailer, sink } = rig(POLL_ONLY);
		const megabyte = Buffer.from(`${"x".repeat(1023)}\n`.repeat(1024));
		const prepared = join(directory, "prepared");
		for (let i = 0; i < 200; i++) fs.appendFileSync(prepared, megabyte);
		let lineFeeds = 0;
		let largest = 0;
		sink.feed = (bytes) => {
			largest = Math.max(largest, bytes.length);
			for (let at = bytes.indexOf(10); at >= 0; at = bytes.indexOf(10, at + 1)) lineFeeds++;
		};
		let turns = 0;
		const ticker = setInterval(() => turns++, 1);
		tailer.start();
		fs.renameSync(prepared, file);
		await waitFor(
			() => lineFeeds === 200 * 1024,
			() => "the backlog",
			30_000,
		);
		clearInterval(ticker);
		expect(largest).toBeLessThanOrEqual(256 * 1024);
		expect(turns).toBeGreaterThan(20);
		expect(tailer.getMetrics()).toMatchObject({ bytesRead: 200 * megabyte.length, linesFed: 200 * 1024 });
	});
});

describe("stop", () => {
	it("reads what was written last, in every file, and says so once", async () => {
		const { directory, tailer, sink } = rig({ type: "directory", ...NEVER_POLL, ...POLL_ONLY });
		fs.writeFileSync(join(directory, "a.log"), "old\n");
		tailer.start();
		fs.appendFileSync(join(directory, "a.log"), "a\n");
		fs.writeFileSync(join(directory, "b.log"), "b\ntorn");
		const stopping = tailer.stop();
		expect(tailer.stop()).toBe(stopping);
		await stopping;
		await tailer.stop();
		expect([...sink.lines].sort()).toEqual(["a", "b", "torn"]);
		fs.appendFileSync(join(directory, "a.log"), "after\n");
		expect(tailer.getMetrics().linesFed).toBe(3);
	});

	it("reads a whole backlog that is there", async () => {
		const { file, tailer, sink } = rig();
		tailer.start();
		fs.writeFileSync(file, `${"x".repeat(99)}\n`.repeat(100_000));
		await tailer.stop();
		expect(sink.lines).toHaveLength(100_000);
	});

	it("waits 100 ms for late writes on Windows only", async () => {
		for (const platform of ["win32", "linux"] as const) {
			const { file, tailer, sink } = rig(POLL_ONLY, { platform });
			tailer.start();
			const start = performance.now();
			const stopped = tailer.stop();
			if (platform === "win32") setTimeout(() => fs.writeFileSync(file, "late\n"), 20);
			await stopped;
			if (platform === "win32") {
				expect(performance.now() - start).toBeGreaterThanOrEqual(99);
				expect(sink.lines).toEqual(["late"]);
			} else {
				expect(performance.now() - start).toBeLessThan(99);
			}
		}
	});

	it("leaves no timer, watcher or descriptor", async () => {
		const before = process.getActiveResourcesInfo().filter((name) => name === "FSEventWrap").length;
		const { directory, tailer, lines } = rig({ type: "directory" });
		tailer.start();
		for (let i = 0; i < 5; i++) fs.writeFileSync(join(directory, `${i}.log`), "x\n");
		await lines(5);
		if (process.platform === "linux") expect(openDescriptors(directory)).toHaveLength(5);
		await tailer.stop();
		expect(openDescriptors(directory)).toEqual([]);
		expect(process.getActiveResourcesInfo().filter((name) => name === "FSEventWrap")).toHaveLength(before);
		const { pollReadsPerformed } = tailer.getMetrics();
		await new Promise((resolve) => setTimeout(resolve, 60));
		expect(tailer.getMetrics().pollReadsPerformed).toBe(pollReadsPerformed);
	});

	it("may come before the start, which then does nothing", async () => {
		const { directory, tailer } = rig({ path: join(temporaryDirectory(), "never") });
		await tailer.stop();
		tailer.start();
		expect(fs.existsSync(directory)).toBe(false);
	});

	it.each(["await tailer.stop();", ""])("nothing keeps the event loop alive after: start, %s", async (stop) => {
		const module = new URL("../../src/process/log-file-tailer.ts", import.meta.url);
		const source = { name: "log", type: "directory", path: temporaryDirectory() };
		const script = `
			const { LogFileTailer } = await import(${JSON.stringify(module.href)});
			const tailer = new LogFileTailer(${JSON.stringify(source)}, { feed() {}, end() {} });
			tailer.start();
			${stop}`;
		await promisify(execFile)(process.execPath, ["--input-type=module", "-e", script], { timeout: 10_000 });
	});
});

describe("errors", () => {
	it("counts a file that cannot be read, reads the others, and goes on when it can", async () => {
		const { directory, tailer, lines } = rig({ type: "directory" });
		tailer.start();
		const loop = join(directory, "a.log");
		fs.symlinkSync(loop, loop);
		fs.writeFileSync(join(directory, "b.log"), "b\n");
		await lines(1);
		expect(tailer.getMetrics().readErrors).toBeGreaterThan(0);
		fs.rmSync(loop);
		fs.writeFileSync(loop, "a\n");
		expect(await lines(2)).toEqual(["b", "a"]);
	});

	it("goes on after a sink that throws", async () => {
		const { file, tailer, sink, lines } = rig();
		tailer.start();
		sink.onFeed = () => {
			sink.onFeed = () => undefined;
			throw new Error("from the sink");
		};
		fs.writeFileSync(file, "one\n");
		await lines(1);
		fs.appendFileSync(file, "two\n");
		expect(await lines(2)).toEqual(["one", "two"]);
		expect(tailer.getMetrics().readErrors).toBe(1);
	});
});

it("does nothing when it is imported or constructed", () => {
	const directory = join(temporaryDirectory(), "not-created");
	new LogFileTailer({ name: "log", type: "directory", path: directory }, new CollectingSink());
	expect(fs.existsSync(directory)).toBe(false);
});
