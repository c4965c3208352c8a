import * as fs from "node:fs";
import { basename, join } from "node:path";
import { describe, expect, it } from "vitest";
import { laterTime, openDescriptors, POLL_ONLY, rig, waitFor } from "./log-tailer-harness.ts";

describe("directory source", () => {
	const DIRECTORY = { type: "directory" } as const;

	it("follows every .log file from its own offset, and no other file", async () => {
		const { directory, tailer, lines, nextPoll } = rig(DIRECTORY);
		fs.writeFileSync(join(directory, "a.log"), "old\n");
		tailer.start();
		fs.writeFileSync(join(directory, "b.log"), "b1\n");
		fs.writeFileSync(join(directory, "x.jsonl.backup-before-recovery-1"), "backup\n");
		fs.writeFileSync(join(directory, ".copilot-log.lock"), "lock\n");
		fs.mkdirSync(join(directory, "d.log"));
		await lines(1);
		fs.appendFileSync(join(directory, "a.log"), "a1\n");
		await lines(2);
		fs.appendFileSync(join(directory, "b.log"), "b2\n");
		await lines(3);
		await nextPoll();
		expect(await lines(3)).toEqual(["b1", "a1", "b2"]);
	});

	it("has the newest file as its current one: by modification, then birth, then name", async () => {
		const { directory, tailer, nextPoll } = rig(DIRECTORY);
		const [a, b, c] = ["a.log", "b.log", "c.log"].map((name) => join(directory, name)) as [string, string, string];
		const at = new Date("2026-01-02T03:04:05Z");
		const touch = (path: string, text: string): void => {
			fs.appendFileSync(path, text);
			fs.utimesSync(path, at, at);
		};
		touch(b, "b\n");
		await laterTime();
		touch(a, "aa\n");
		tailer.start();
		expect(tailer.getMetrics()).toMatchObject({ currentFile: a, currentOffset: 3 });
		fs.utimesSync(b, at, new Date(at.getTime() + 1000));
		await nextPoll();
		expect(tailer.getMetrics()).toMatchObject({ currentFile: b, currentOffset: 2 });
		fs.linkSync(b, c);
		await nextPoll();
		expect(tailer.getMetrics()).toMatchObject({ currentFile: c, currentOffset: 2 });
	});

	it("reads both of two files whose modification times are equal and never change", async () => {
		const { directory, tailer, lines } = rig(DIRECTORY);
		const at = new Date("2026-01-02T03:04:05Z");
		const append = (name: string, text: string): void => {
			fs.appendFileSync(join(directory, name), text);
			fs.utimesSync(join(directory, name), at, at);
		};
		append("a.log", "");
		append("b.log", "");
		tailer.start();
		for (let i = 0; i < 5; i++) {
			append("a.log", `a${i}\n`);
			append("b.log", `b${i}\n`);
			await lines(2 * i + 2);
		}
		expect([...(await lines(10))].sort()).toEqual(["a0", "a1", "a2", "a3", "a4", "b0", "b1", "b2", "b3", "b4"]);
	});

	it("never mixes two files inside a line", async () => {
		const { directory, tailer, lines, nextPoll } = rig({ ...DIRECTORY, ...POLL_ONLY });
		const append = (name: string, text: string): void => fs.appendFileSync(join(directory, name), text);
		tailer.start();
		append("a.log", "a-sta");
		await nextPoll();
		append("b.log", "b1\nb-sta");
		await nextPoll();
		append("a.log", "rt\na2\n");
		await nextPoll();
		append("b.log", "rt\n");
		expect(await lines(4)).toEqual(["b1", "a-start", "a2", "b-start"]);
	});

	it("ends an overlong line when another file has one, and skips its rest", async () => {
		const { directory, tailer, lines, nextPoll, sink } = rig({ ...DIRECTORY, ...POLL_ONLY, maxLineBytes: 10 });
		const append = (name: string, text: string): void => fs.appendFileSync(join(directory, name), text);
		tailer.start();
		append("a.log", "0123456789a");
		await nextPoll();
		append("a.log", "bc");
		await nextPoll();
		append("b.log", "b1\n");
		await lines(2);
		append("a.log", "rest\nnext\n");
		expect(await lines(3)).toEqual(["0123456789abc", "b1", "next"]);
		expect(sink.ends).toBe(1);
		expect(tailer.getMetrics().linesFed).toBe(3);
	});

	it("C1: reads archives that are named .log too, once and in order, after two rotations between looks", async () => {
		const { directory, tailer, lines, nextPoll } = rig({ ...DIRECTORY, ...POLL_ONLY });
		const active = join(directory, "process-1-2.log");
		const archive = (n: number): string => join(directory, `process-1-2.${n}.log`);
		const rotate = (): void => {
			for (let n = 3; n > 0; n--) if (fs.existsSync(archive(n))) fs.renameSync(archive(n), archive(n + 1));
			fs.renameSync(active, archive(1));
			fs.writeFileSync(active, "");
		};
		fs.writeFileSync(active, "old\n");
		tailer.start();
		const expected: string[] = [];
		for (let round = 0; round < 4; round++) {
			for (const part of ["first", "second", "third"]) {
				fs.appendFileSync(active, `${round} ${part}\n`);
				expected.push(`${round} ${part}`);
				await laterTime();
				if (part !== "third") rotate();
			}
			await lines(expected.length);
		}
		await nextPoll();
		expect(await lines(expected.length)).toEqual(expected);
		expect(tailer.getMetrics().currentFile).toBe(active);
	});

	it("A-B-A: goes on with each file where it was, however often they alternate", async () => {
		const { directory, tailer, lines } = rig(DIRECTORY, { leftBehindMs: 1 });
		tailer.start();
		for (let i = 0; i < 10; i++) {
			const path = join(directory, i % 2 ? "b.log" : "a.log");
			fs.appendFileSync(path, `${i}\n`);
			await lines(i + 1);
			await waitFor(
				() => tailer.getMetrics().currentFile === path,
				() => "the current file",
			);
			await laterTime();
		}
		expect(await lines(10)).toEqual(Array.from({ length: 10 }, (_, i) => `${i}`));
	});

	it("delivers the unfinished line of a file that a newer one outran, after a quiet time", async () => {
		const { directory, tailer, lines, nextPoll } = rig(DIRECTORY, { leftBehindMs: 1 });
		tailer.start();
		fs.writeFileSync(join(directory, "a.log"), "torn");
		await nextPoll();
		fs.writeFileSync(join(directory, "b.log"), "b\n");
		expect([...(await lines(2))].sort()).toEqual(["b", "torn"]);
	});

	it("follows more files than it keeps open", async () => {
		const { directory, tailer, lines } = rig(DIRECTORY);
		const paths = Array.from({ length: 60 }, (_, i) => join(directory, `${i}.log`));
		for (const path of paths.slice(0, 40)) fs.writeFileSync(path, "old\n");
		tailer.start();
		for (let round = 0; round < 3; round++) {
			for (const path of paths) fs.appendFileSync(path, `${basename(path)} ${round}\n`);
			await lines(60 * (round + 1));
			expect(openDescriptors(directory).length).toBeLessThanOrEqual(34);
		}
		const expected = paths.flatMap((path) => [0, 1, 2].map((round) => `${basename(path)} ${round}`));
		expect([...(await lines(180))].sort()).toEqual(expected.sort());
	});

	it.each([{ watch: true }, { watch: false }])(
		"goes on in a directory that was removed and created again ($watch)",
		async ({ watch }) => {
			const { directory, tailer, lines, nextPoll } = rig({ ...DIRECTORY, watch });
			tailer.start();
			for (let i = 0; i < 3; i++) {
				fs.writeFileSync(join(directory, "a.log"), `${i} last\n`);
				await lines(2 * i + 1);
				fs.rmSync(directory, { recursive: true });
				if (i > 0) await nextPoll();
				expect(fs.existsSync(directory)).toBe(false);
				fs.mkdirSync(directory);
				fs.writeFileSync(join(directory, "a.log"), `${i} first\n`);
				await lines(2 * i + 2);
				fs.rmSync(join(directory, "a.log"));
				await nextPoll();
			}
			expect(await lines(6)).toEqual([0, 1, 2].flatMap((i) => [`${i} last`, `${i} first`]));
			expect(tailer.getMetrics().readErrors).toBe(0);
		},
	);
});
