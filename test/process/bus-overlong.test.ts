import { spawnSync } from "node:child_process";
import { describe, expect, it } from "vitest";
import { type OutputBusOptions, OutputSources, type OverlongEvent, ProcessOutputBus } from "../../src/process/index.ts";
import { cutAt, feed, recordingHandler, recordLines } from "./bus-probe.ts";
import { childCommand } from "./started-child.ts";

function limited(options: OutputBusOptions) {
	const bus = new ProcessOutputBus(options);
	const overlong: OverlongEvent[] = [];
	bus.subscribe((event) => overlong.push(event), { types: ["overlong"] });
	return { bus, overlong, lines: recordLines(bus) };
}

describe("lines over the limit", () => {
	it.each([
		["exactly at it", "1234567890\n", ["1234567890"], []],
		["one over", "12345678901\n", [], [11]],
		["at it, with CR LF", "1234567890\r\n", ["1234567890"], []],
		["a second CR is content", "1234567890\r\r\n", [], [11]],
		["one over, with CR LF", "12345678901\r\n", [], [11]],
		["at it, unfinished", "1234567890", ["1234567890"], []],
		["one over, unfinished", "12345678901", [], [11]],
		["unfinished with a CR, which is content there", "1234567890\r", [], [11]],
		["far over, and lines around it", "a\n123456789012345678901234567890\r\nb\n", ["a", "b"], [30]],
		["two in a row", "12345678901\n123456789012\n", [], [11, 12]],
	])("invariant 3: %s", (_, text, lines, overlong) => {
		const whole = Buffer.from(text);
		// Whole, in halves at every place, and byte by byte: the answer is the same.
		const manners = [[], ...Array.from(whole, (_, i) => [i]), Array.from(whole, (_, i) => i)];
		for (const cuts of manners) {
			const seen = limited({ maxLineBytes: 10 });
			for (const piece of cutAt(whole, cuts)) feed(seen.bus, piece);
			seen.bus.end(OutputSources.stdout);
			expect(seen.lines).toEqual(lines);
			expect(seen.overlong.map(({ bytes }) => bytes)).toEqual(overlong);
			expect(seen.bus.getMetrics().overlong).toBe(overlong.length);
		}
	});

	it("tells source, length and a head of 4 KiB that ends at a character; no handler sees the line", () => {
		const { bus, overlong } = limited({ maxLineBytes: 5000 });
		const handler = recordingHandler();
		bus.register(handler);
		const line = `x${"€".repeat(4000)}`;
		feed(bus, `${line}\nnext\n`);
		expect(overlong).toEqual([
			{ type: "overlong", source: OutputSources.stdout, bytes: 12_001, head: line.slice(0, 1366) },
		]);
		expect(handler.windows).toEqual([["next"]]);
		expect(bus.getMetrics().linesBySource).toEqual({ stdout: 1 });
	});

	it("tells nothing before the line ends", () => {
		const { bus, overlong } = limited({ maxLineBytes: 10 });
		feed(bus, "x".repeat(100));
		expect(overlong).toEqual([]);
		feed(bus, "\n");
		expect(overlong).toHaveLength(1);
	});

	it("limits single sources where asked, all others by the common limit, 64 MiB by default", () => {
		const { bus, overlong } = limited({
			maxLineBytes: 20,
			maxLineBytesBySource: { "log-file:x": 5, stderr: undefined },
		});
		for (const source of [
			OutputSources.stdout,
			OutputSources.stderr,
			OutputSources.logFile("x"),
			OutputSources.logFile("y"),
		])
			bus.feed(Buffer.from("123456\n123456789012345678901\n"), source);
		expect(overlong.map(({ source, bytes }) => [source.type, bytes])).toEqual([
			["stdout", 21],
			["stderr", 21],
			["log-file", 6],
			["log-file", 21],
			["log-file", 21],
		]);

		const unlimited = limited({});
		const mebibyte = Buffer.alloc(1024 * 1024, "x");
		for (let i = 0; i < 64; i++) feed(unlimited.bus, mebibyte);
		feed(unlimited.bus, "\r\n");
		expect(unlimited.lines.map((line) => line.length)).toEqual([64 * 1024 * 1024]);
		for (let i = 0; i < 64; i++) feed(unlimited.bus, mebibyte);
		feed(unlimited.bus, "x\n");
		expect(unlimited.overlong.map(({ bytes }) => bytes)).toEqual([64 * 1024 * 1024 + 1]);
	});

	it("invariant 3: holds a bounded amount of a line of 1 GiB", () => {
		const [node, args] = childCommand("feed-one-line.mjs", [String(1024 * 1024 * 1024), String(1024 * 1024)]);
		const run = spawnSync(node, args, { encoding: "utf8", timeout: 60_000 });
		expect(run.stderr).toBe("");
		const { bytes, head, peakMegabytes } = JSON.parse(run.stdout);
		expect({ bytes, head }).toEqual({ bytes: 1024 * 1024 * 1024, head: 4096 });
		// Keeping the line would take 1024; what remains is the rhythm of the garbage collector.
		expect(peakMegabytes).toBeLessThan(256);
	});
});
