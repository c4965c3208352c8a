import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type OutputSource, OutputSources, ProcessOutputBus, sourceKey } from "../../src/process/index.ts";
import { cutAt, feed, recordingHandler, recordLines, referenceLines } from "./bus-probe.ts";

/** Bytes in which line ends are frequent. */
const bytes = fc
	.array(
		fc.oneof(
			fc.constantFrom(
				"\n",
				"\r",
				"\r\n",
				"\r\r\n",
				"\n\n",
				"\u2028",
				"\u2029",
				"\u0085",
				"é",
				"€",
				"😀",
				"\0",
				"\v",
				"\f",
			),
			fc.uint8Array({ maxLength: 6 }),
			fc.string({ unit: "grapheme", maxLength: 6 }),
		),
		{ maxLength: 40 },
	)
	.map((parts) => Buffer.concat(parts.map((part) => (typeof part === "string" ? Buffer.from(part) : part))));
const cuts = fc.array(fc.nat(), { maxLength: 30 });

function linesOf(data: string | Buffer): string[] {
	const bus = new ProcessOutputBus();
	const lines = recordLines(bus);
	feed(bus, data);
	bus.end(OutputSources.stdout);
	return lines;
}

describe("lines of a bus, against a reference on the whole", () => {
	it("invariants 1, 2: any bytes, cut anywhere, give the same lines as bytes and as text", () => {
		fc.assert(
			fc.property(bytes, cuts, (whole, where) => {
				const bus = new ProcessOutputBus();
				const raw: Buffer[] = [];
				bus.register(
					recordingHandler({
						onBytes: (piece, start, end) => raw.push(piece.subarray(start, end)) > 0,
					}),
				);
				const text = recordLines(bus);
				for (const piece of cutAt(whole, where)) feed(bus, piece);
				bus.end(OutputSources.stdout);
				const expected = referenceLines(whole);
				expect(raw.map((line) => line.toString("hex"))).toEqual(expected.map((line) => line.toString("hex")));
				expect(text).toEqual(expected.map((line) => line.toString("utf8")));
				expect(bus.getMetrics()).toMatchObject({ bytes: whole.length, linesBySource: { stdout: expected.length } });
			}),
			{ numRuns: 1000 },
		);
	});

	it("windows are the last lines so far, of each source for itself", () => {
		const source = fc.constantFrom<OutputSource>(
			OutputSources.stdout,
			OutputSources.stderr,
			OutputSources.logFile("x"),
		);
		const pieces = fc.array(fc.tuple(source, fc.stringMatching(/^[ab\n]{0,6}$/)), { maxLength: 40 });
		fc.assert(
			fc.property(pieces, fc.integer({ min: 1, max: 6 }), (fed, windowSize) => {
				const bus = new ProcessOutputBus();
				const sources = [OutputSources.stdout, OutputSources.stderr, OutputSources.logFile("x")];
				const handler = recordingHandler({ sources, windowSize });
				bus.register(handler);
				for (const [from, text] of fed) bus.feed(Buffer.from(text), from);
				for (const from of sources) bus.end(from);
				for (const from of sources) {
					const key = sourceKey(from);
					const whole = fed.filter(([other]) => sourceKey(other) === key).map(([, text]) => text);
					const lines = referenceLines(Buffer.from(whole.join(""))).map(String);
					const windows = handler.windows.filter((_, i) => sourceKey(handler.seen[i] ?? from) === key);
					expect(windows).toEqual(lines.map((_, i) => lines.slice(Math.max(0, i + 1 - windowSize), i + 1)));
				}
			}),
			{ numRuns: 500 },
		);
	});
});

describe("line ends", () => {
	it("B1, invariant 1: U+2028, U+2029, NEL, VT, FF and a lone CR do not end a line", () => {
		const line = "a\u2028b\u2029c\u0085d\ve\ff\rg";
		expect(linesOf(`${line}\n`)).toEqual([line]);
	});

	it("drops exactly one CR before LF, also when cut between them, and keeps one at the very end", () => {
		expect(linesOf("a\r\nb\r\r\n\r\n\rc\nd\r")).toEqual(["a", "b\r", "", "\rc", "d\r"]);
		const bus = new ProcessOutputBus();
		const lines = recordLines(bus);
		for (const piece of ["a\r", "\nb", "\r", "\n"]) feed(bus, piece);
		expect(lines).toEqual(["a", "b"]);
	});

	it("invariant 2: a blank line is a line, a last line without newline is delivered, an empty rest is none", () => {
		expect(linesOf("\n\na\n\nb")).toEqual(["", "", "a", "", "b"]);
		expect(linesOf("a\n")).toEqual(["a"]);
		expect(linesOf("")).toEqual([]);
	});

	it("B2: a character cut at any byte stays whole", () => {
		const text = Buffer.from("é€😀\n");
		for (let cut = 0; cut <= text.length; cut++) {
			const bus = new ProcessOutputBus();
			const lines = recordLines(bus);
			feed(bus, text.subarray(0, cut));
			feed(bus, text.subarray(cut));
			expect(lines).toEqual(["é€😀"]);
			expect(bus.getMetrics().undecodable).toBe(0);
		}
	});

	it("B2: invalid bytes degrade and are counted, a real U+FFFD is not", () => {
		const bus = new ProcessOutputBus();
		const lines = recordLines(bus);
		feed(bus, Buffer.from([0x61, 0xff, 0x62, 0x0a]));
		feed(bus, "\uFFFD\n");
		expect(lines).toEqual(["a\uFFFDb", "\uFFFD"]);
		expect(bus.getMetrics().undecodable).toBe(1);
	});

	it("takes up again after an end, as a rotated log does", () => {
		const bus = new ProcessOutputBus();
		const lines = recordLines(bus);
		feed(bus, "torn");
		bus.end(OutputSources.stdout);
		bus.end(OutputSources.stdout);
		feed(bus, "next\n");
		expect(lines).toEqual(["torn", "next"]);
	});

	it("C2: NULs at the start of a line are padding in a log file and content elsewhere", () => {
		const bus = new ProcessOutputBus();
		const lines: [string, string][] = [];
		bus.subscribeLines((line, source) => lines.push([sourceKey(source), line]));
		const text = Buffer.from("\0\0a\0b\n\0\0\n\nc\n");
		bus.feed(text, OutputSources.logFile("x"));
		bus.feed(text, OutputSources.stdout);
		expect(lines).toEqual([
			["log-file:x", "a\0b"],
			["log-file:x", ""],
			["log-file:x", "c"],
			["stdout", "\0\0a\0b"],
			["stdout", "\0\0"],
			["stdout", ""],
			["stdout", "c"],
		]);
		expect(bus.getMetrics().linesBySource).toEqual({ "log-file:x": 3, stdout: 4 });
	});
});

describe("long lines", () => {
	it.each([1, 8, 64])("B5, invariant 3: a line of %d MB arrives whole in pipe-sized pieces", (megabytes) => {
		const size = megabytes * 1024 * 1024;
		const bus = new ProcessOutputBus();
		const lines: string[] = [];
		bus.register(recordingHandler({ onLine: ([line = ""]) => void lines.push(line) }));
		const whole = Buffer.alloc(size, "0123456789abcde");
		for (let at = 0; at < size; at += 65_536) feed(bus, whole.subarray(at, at + 65_536));
		feed(bus, "\nnext\n");
		expect(lines.map((line) => line.length)).toEqual([size, 4]);
		expect(lines[0] === whole.toString("latin1")).toBe(true);
		expect(bus.getMetrics().overlong).toBe(0);
	});

	it("invariant 3: costs no more than in proportion to its length", () => {
		const cost = (lineBytes: number) => {
			const bus = new ProcessOutputBus();
			let seen = 0;
			bus.register(
				recordingHandler({
					onBytes: (_, start, end) => {
						seen += end - start;
						return true;
					},
				}),
			);
			const piece = Buffer.alloc(8192, "x");
			const start = process.cpuUsage();
			for (let fed = 0; fed < 64 * 1024 * 1024; ) {
				for (let line = 0; line < lineBytes; line += piece.length) feed(bus, piece);
				feed(bus, "\n");
				fed += lineBytes;
			}
			const { user, system } = process.cpuUsage(start);
			expect(seen).toBe(64 * 1024 * 1024);
			return (user + system) / 1000;
		};
		cost(64 * 1024);
		const short = Math.min(...[1, 2, 3].map(() => cost(1024 * 1024)));
		const long = Math.min(...[1, 2, 3].map(() => cost(64 * 1024 * 1024)));
		// Quadratic work would cost 64 times as much; page faults of one big buffer some times as much. The floor keeps noise out.
		expect(long).toBeLessThan(8 * Math.max(short, 20));
	});
});
