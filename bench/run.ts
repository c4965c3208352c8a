// The process layer against its yardsticks, each pair in one run: these machines are shared, so only ratios count.
import { execFile } from "node:child_process";
import { createWriteStream } from "node:fs";
import { mkdtemp, rm, statfs } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { formatTable, median } from "./statistics.ts";

const run = promisify(execFile);
const here = fileURLToPath(new URL("process/", import.meta.url));
const ROUNDS = Number(process.env.BENCH_ROUNDS ?? 5);
const folder = await mkdtemp(join(tmpdir(), "flightdeck-bench-"));

interface Row {
	readonly what: string;
	readonly measured: string;
	readonly target: string;
	/** Undefined: void, for the reason that `measured` gives. */
	readonly met: boolean | undefined;
}

const benchmarks: Record<string, () => Promise<Row[]>> = {
	stream: piStream,
	lines: textLines,
	longLine,
	memory,
	tail: tailLatency,
	children: manyChildren,
	wrap: wrapCost,
};

try {
	const chosen = process.argv.slice(2).filter((name) => name in benchmarks);
	const rows: Row[] = [];
	for (const [name, benchmark] of Object.entries(benchmarks))
		if (chosen.length === 0 || chosen.includes(name)) rows.push(...(await benchmark()));
	const verdict = ({ met }: Row) => (met === undefined ? "void" : met ? "met" : "MISSED");
	console.log(
		formatTable([
			["what", "measured", "target", ""],
			...rows.map((row) => [row.what, row.measured, row.target, verdict(row)]),
		]),
	);
	process.exitCode = rows.some(({ met }) => met === false) ? 1 : 0;
} finally {
	await rm(folder, { recursive: true, force: true });
}

interface Measured {
	readonly cpuMs: number;
	readonly peakMB: number;
	readonly lines: number;
	readonly bytes: number;
	readonly [found: string]: unknown;
}

/** Runs one script of `bench/process` to its end and reads the JSON of its last line. */
async function measure<T = Measured>(script: string, ...args: string[]): Promise<T> {
	const { stdout } = await run(process.execPath, [join(here, script), ...args], { maxBuffer: 1 << 24 });
	return JSON.parse(stdout.trim().split("\n").at(-1) ?? "");
}

/** Takes turns through all, so that a busy spell meets every one of them. */
async function rounds(commands: Readonly<Record<string, readonly [string, ...string[]]>>) {
	const results: Record<string, Measured[]> = {};
	for (let round = 0; round < ROUNDS; round++)
		for (const [name, [script, ...args]] of Object.entries(commands)) {
			results[name] ??= [];
			results[name].push(await measure(script, ...args));
		}
	return {
		all: (name: string) => results[name] ?? [],
		cpu: (name: string) => median((results[name] ?? []).map(({ cpuMs }) => cpuMs)),
		peak: (name: string) => median((results[name] ?? []).map(({ peakMB }) => peakMB)),
	};
}

async function streamFile(megabytes: number): Promise<string> {
	const file = join(folder, `stream-${megabytes}.jsonl`);
	const { stdout } = await run(process.execPath, [join(here, "gen-stream.mjs"), String(Math.min(megabytes, 100))], {
		maxBuffer: 1 << 30,
		encoding: "buffer",
	});
	const parts = Array.from({ length: Math.max(1, Math.round(megabytes / 100)) }, () => stdout);
	await pipeline(Readable.from(parts), createWriteStream(file));
	return file;
}

async function piStream(): Promise<Row[]> {
	const file = await streamFile(100);
	const results = await rounds({
		drain: ["yardsticks.mjs", "drain", file],
		parse: ["yardsticks.mjs", "parse", file],
		ours: ["consume-pi.mjs", file],
	});
	for (const found of results.all("ours")) checkStream(found);
	const toDrain = results.cpu("ours") / results.cpu("drain");
	const toParse = results.cpu("ours") / results.cpu("parse");
	return [
		row("100 MB pi stream, CPU to drain", `${toDrain.toFixed(2)} x`, "2.5 x", toDrain <= 2.5),
		row("100 MB pi stream, CPU to parse", `${toParse.toFixed(2)} x`, "0.25 x", toParse <= 0.25),
	];
}

/** That the work was done: what the generator put in came out. */
function checkStream(found: Measured): void {
	const expected = { toolUses: 387, turns: 388, errors: 0, answer: "FINAL ANSWER 東京 🚀" };
	for (const [name, value] of Object.entries(expected))
		if (found[name] !== value) throw new Error(`${name}: ${found[name]} instead of ${value}`);
	// Turn n has 1000 + n tokens in and 300 out, the last one 1 and 2.
	const usage = JSON.stringify([387 * 1000 + (387 * 388) / 2 + 1, 387 * 300 + 2, 387 * 5000, 387 * 100]);
	const { input, output, cacheRead, cacheWrite } = found.usage as Record<string, number>;
	if (JSON.stringify([input, output, cacheRead, cacheWrite]) !== usage)
		throw new Error(`usage: ${JSON.stringify(found.usage)}`);
}

async function textLines(): Promise<Row[]> {
	const file = join(folder, "text.log");
	const count = 1_250_000;
	const block = Array.from({ length: 1000 }, (_, i) =>
		(i % 50 === 0 ? `error ${i} ` : "line ").padEnd(79, "abc "),
	).join("\n");
	await pipeline(Readable.from(Array.from({ length: count / 1000 }, () => `${block}\n`)), createWriteStream(file));
	const results = await rounds({ lines: ["yardsticks.mjs", "lines", file], ours: ["consume-lines.mjs", file] });
	for (const { lines, matches } of results.all("ours"))
		if (lines !== count || matches !== count / 50) throw new Error(`${lines} lines, ${matches} matches`);
	const ratio = results.cpu("ours") / results.cpu("lines");
	return [row("100 MB of 80-byte lines, CPU to lines", `${ratio.toFixed(2)} x`, "4 x", ratio <= 4)];
}

async function longLine(): Promise<Row[]> {
	const megabyte = "x".repeat((1 << 20) - 1);
	const one = join(folder, "one.txt");
	const many = join(folder, "many.txt");
	await pipeline(Readable.from([...Array.from({ length: 64 }, () => megabyte), "\n"]), createWriteStream(one));
	await pipeline(Readable.from(Array.from({ length: 64 }, () => `${megabyte}\n`)), createWriteStream(many));
	const results = await rounds({ many: ["consume-lines.mjs", many], one: ["consume-lines.mjs", one] });
	for (const { lines } of results.all("one")) if (lines !== 1) throw new Error(`${lines} lines instead of one`);
	for (const { lines } of results.all("many")) if (lines !== 64) throw new Error(`${lines} lines instead of 64`);
	const ratio = results.cpu("one") / results.cpu("many");
	return [row("one line of 64 MB, CPU to 64 of 1 MB", `${ratio.toFixed(2)} x`, "1.3 x", ratio <= 1.3)];
}

async function memory(): Promise<Row[]> {
	const { bavail, bsize } = await statfs(folder);
	const what = "peak RSS over 1 GB, above drain";
	if (bavail * bsize < 3e9) return [row(what, "no room on disk", "48 MB", undefined)];
	const file = await streamFile(1000);
	const results = await rounds({ drain: ["yardsticks.mjs", "drain", file], ours: ["consume-pi.mjs", file] });
	for (const { errors, toolUses } of results.all("ours"))
		if (errors !== 0 || toolUses !== 3870) throw new Error(`${errors} errors, ${toolUses} tool uses`);
	await rm(file);
	const above = results.peak("ours") - results.peak("drain");
	return [row(what, `${above.toFixed(0)} MB`, "48 MB", above <= 48)];
}

async function tailLatency(): Promise<Row[]> {
	type Latency = { lines: number; p50: number; p99: number; max: number };
	type Found = { appends: number; ours: Latency; tail: Latency; polling: Latency };
	const found = await measure<Found>("tail-latency.mjs", "2000");
	for (const reader of [found.ours, found.tail, found.polling])
		if (reader.lines !== found.appends) throw new Error(`${reader.lines} of ${found.appends} lines`);
	const { p99, max } = found.polling;
	const measured = `${max.toFixed(0)} ms (p99 ${p99.toFixed(0)} ms)`;
	const polling = row("tailer without a watcher, longest wait", measured, "500 ms", max <= 500);
	const watching = (["p50", "p99"] as const).map((q) => {
		const limit = q === "p50" ? 2 : 3;
		const ratio = found.ours[q] / found.tail[q];
		const measured = `${ratio.toFixed(2)} x (${found.ours[q].toFixed(2)} ms)`;
		return row(`tailer, append to onLine, ${q} to tail -F`, measured, `${limit} x`, ratio <= limit);
	});
	return [...watching, polling];
}

async function manyChildren(): Promise<Row[]> {
	const found = await measure<{ lines: number; lost: number; idleP99: number; p99: number }>(
		"many-children.mjs",
		"50",
		"10",
	);
	if (found.lost !== 0 || found.lines === 0) throw new Error(`${found.lost} of ${found.lines} lines lost`);
	const idle = found.idleP99 > 5;
	const measured = `${found.p99.toFixed(1)} ms (idle ${found.idleP99.toFixed(1)} ms)`;
	return [
		row(`50 children, ${found.lines} lines, loop delay p99`, measured, "30 ms", idle ? undefined : found.p99 <= 30),
	];
}

async function wrapCost(): Promise<Row[]> {
	const found = await measure<{ plainMs: number; managedMs: number }>("wrap-cost.mjs", "200");
	const added = found.managedMs - found.plainMs;
	return [row("wrap cost a child, CPU over plain spawn", `${added.toFixed(2)} ms`, "1 ms", added <= 1)];
}

function row(what: string, measured: string, target: string, met: boolean | undefined): Row {
	return { what, measured, target, met };
}
