import { EventEmitter } from "node:events";
import * as fs from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { WatchDirectory } from "../../src/process/log-directory-watch.ts";
import { NEVER_POLL, POLL_ONLY, rig, temporaryDirectory } from "./log-tailer-harness.ts";

describe("watcher", () => {
	it("C7: reads by polling alone what no watcher tells", async () => {
		const { file, tailer, lines, nextPoll } = rig(POLL_ONLY);
		tailer.start();
		await nextPoll();
		fs.writeFileSync(file, "one\n");
		expect(await lines(1)).toEqual(["one"]);
		const { watchEventsReceived, pollReadsPerformed } = tailer.getMetrics();
		expect(watchEventsReceived).toBe(0);
		expect(pollReadsPerformed).toBeGreaterThan(0);
	});

	it("C7: polls when no watcher can be had, and asks for it once", async () => {
		let asked = 0;
		const watchDirectory: WatchDirectory = () => {
			asked++;
			throw Object.assign(new Error("no watcher left"), { code: "ENOSPC" });
		};
		const { file, tailer, lines, nextPoll } = rig({}, { watchDirectory });
		tailer.start();
		fs.writeFileSync(file, "one\n");
		expect(await lines(1)).toEqual(["one"]);
		await nextPoll();
		expect(asked).toBe(1);
		expect(tailer.getMetrics().readErrors).toBe(1);
	});

	it("C7: polls when the watcher fails later, and closes it", async () => {
		const watch = new FakeWatch();
		const { file, tailer, lines } = rig({}, { watchDirectory: watch.watchDirectory });
		tailer.start();
		watch.emit("error", new Error("gone"));
		expect(watch.closed).toBe(1);
		fs.writeFileSync(file, "one\n");
		expect(await lines(1)).toEqual(["one"]);
		expect(tailer.getMetrics().readErrors).toBe(1);
	});

	it("C14: looks when a notice has no name", async () => {
		const watch = new FakeWatch();
		const { file, tailer, lines } = rig(NEVER_POLL, { watchDirectory: watch.watchDirectory });
		tailer.start();
		fs.writeFileSync(file, "one\n");
		watch.notify("rename", null);
		expect(await lines(1)).toEqual(["one"]);
		fs.appendFileSync(file, "two\n");
		watch.notify("change", null);
		expect(await lines(2)).toEqual(["one", "two"]);
		expect(tailer.getMetrics().watchEventsReceived).toBe(2);
	});

	it("C13: watches the real path of the directory", () => {
		const real = temporaryDirectory();
		const link = join(temporaryDirectory(), "link");
		fs.symlinkSync(real, link, "junction");
		const watch = new FakeWatch();
		const { tailer } = rig({ path: link }, { watchDirectory: watch.watchDirectory });
		tailer.start();
		expect(watch.directory).toBe(fs.realpathSync.native(real));
	});

	it("C9: does nothing on notices about other files of the directory", async () => {
		const watch = new FakeWatch();
		const { file, tailer, lines, sink } = rig(NEVER_POLL, { watchDirectory: watch.watchDirectory });
		tailer.start();
		fs.writeFileSync(file, "one\n");
		watch.notify("rename", "x.log");
		await lines(1);
		// A look that was under way may still take the next line along; one that follows these notices would take every one.
		let unread = false;
		for (let attempt = 0; attempt < 5 && !unread; attempt++) {
			const before = sink.lines.length;
			fs.appendFileSync(file, `attempt ${attempt}\n`);
			for (let i = 0; i < 100; i++) watch.notify("change", "journal.jsonl");
			await new Promise((resolve) => setTimeout(resolve, 50));
			unread = sink.lines.length === before;
		}
		expect(unread).toBe(true);
		const read = sink.lines.length;
		watch.notify("change", "x.log");
		expect(await lines(read + 1)).toHaveLength(read + 1);
	});

	it("reads an idle source at once, however long the debounce is", async () => {
		const { file, tailer, lines } = rig({ ...NEVER_POLL, debounceMs: 60_000 });
		tailer.start();
		for (let i = 0; i < 20; i++) {
			fs.appendFileSync(file, `${i}\n`);
			await lines(i + 1);
		}
		expect(await lines(20)).toHaveLength(20);
	});

	it("C1: loses nothing in rotations that follow each other faster than the debounce", async () => {
		const { file, tailer, lines } = rig({ ...NEVER_POLL, debounceMs: 60_000 });
		fs.writeFileSync(file, "");
		tailer.start();
		for (let i = 0; i < 50; i++) {
			fs.appendFileSync(file, `${i} last\n`);
			fs.renameSync(file, `${file}.1`);
			fs.writeFileSync(file, `${i} first\n`);
			await lines(2 * i + 2);
		}
		expect(await lines(100)).toHaveLength(100);
	});

	it("does not let a stream of notices postpone a read", async () => {
		const watch = new FakeWatch();
		const { file, tailer, lines } = rig(NEVER_POLL, { watchDirectory: watch.watchDirectory });
		tailer.start();
		let streaming = true;
		const stream = (): void => {
			if (!streaming) return;
			watch.notify("rename", "x.log");
			setImmediate(stream);
		};
		stream();
		const delays: number[] = [];
		for (let i = 0; i < 20; i++) {
			const written = performance.now();
			fs.appendFileSync(file, `${i}\n`);
			await lines(i + 1);
			delays.push(performance.now() - written);
		}
		streaming = false;
		expect(Math.max(...delays)).toBeLessThan(1000);
	});

	it("delivers within 100 ms typically", async () => {
		const { file, tailer, sink, lines } = rig(NEVER_POLL);
		tailer.start();
		const delays: number[] = [];
		let written = 0;
		sink.onFeed = () => delays.push(performance.now() - written);
		for (let i = 0; i < 50; i++) {
			written = performance.now();
			fs.appendFileSync(file, `${i}\n`);
			await lines(i + 1);
		}
		delays.sort((a, b) => a - b);
		expect(delays[25]).toBeLessThan(100);
	});
});

/** A watcher that says what a test wants it to say. */
class FakeWatch extends EventEmitter {
	directory: string | undefined;
	closed = 0;
	notify: (event: string, filename: string | null) => void = () => undefined;

	readonly watchDirectory: WatchDirectory = (directory, _options, listener) => {
		this.directory = directory;
		this.notify = listener;
		return {
			close: () => {
				this.closed++;
			},
			on: (event, handler) => this.on(event, handler),
		};
	};
}
