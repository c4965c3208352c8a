// Appends to a log at random gaps, watched by our tailer and by `tail -F` through a pipe at the same time.
// Prints for both how long a line took from the append to the reader, in milliseconds.
import { spawn } from "node:child_process";
import { appendFileSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";

/** System-wide monotonic clock: comparable between processes. */
const now = () => Number(process.hrtime.bigint()) / 1e6;

const [mode, path] = process.argv.slice(2);
if (mode === "ours") await readWithOurs(path, true);
else if (mode === "polling") await readWithOurs(path, false);
else if (mode === "tail") await readWithTail(path);
else await compare(Number(mode ?? 2000));

async function compare(appends) {
	const folder = mkdtempSync(join(tmpdir(), "flightdeck-tail-"));
	const file = join(folder, "x.log");
	writeFileSync(file, "");
	const self = fileURLToPath(import.meta.url);
	const readers = ["ours", "tail", "polling"].map((name) => {
		const child = spawn(process.execPath, [self, name, file], { stdio: ["pipe", "pipe", "inherit"] });
		let output = "";
		const ready = new Promise((resolve) =>
			child.stdout.on("data", (chunk) => {
				output += chunk;
				if (output.includes("ready\n")) resolve();
			}),
		);
		const done = new Promise((resolve) => child.on("close", () => resolve(JSON.parse(output.split("\n").at(-2)))));
		return { child, ready, done, name };
	});
	await Promise.all(readers.map(({ ready }) => ready));
	for (let i = 0; i < appends; i++) {
		// Mostly short gaps, now and then a long one, as a program logs.
		await delay(Math.random() < 0.1 ? Math.random() * 60 : Math.random() * 8);
		appendFileSync(file, `${now()} line ${i}\n`);
	}
	appendFileSync(file, "end\n");
	const results = await Promise.all(readers.map(({ done }) => done));
	rmSync(folder, { recursive: true });
	console.log(JSON.stringify({ appends, ours: results[0], tail: results[1], polling: results[2] }));
}

/** Collects latencies until the line that says it is over. */
function collector() {
	const latencies = [];
	const over = Promise.withResolvers();
	return {
		line(text) {
			if (text === "end") over.resolve();
			else latencies.push(now() - Number.parseFloat(text));
		},
		async report() {
			await over.promise;
			latencies.sort((a, b) => a - b);
			const at = (q) => Number(latencies[Math.floor((latencies.length - 1) * q)].toFixed(3));
			console.log(JSON.stringify({ lines: latencies.length, p50: at(0.5), p99: at(0.99), max: at(1) }));
		},
	};
}

/** @param watch whether it may use a watcher, or looks every 500 ms alone */
async function readWithOurs(file, watch) {
	const { LogFileTailer, OutputSources, ProcessOutputBus } = await import("../../dist/process.js");
	const bus = new ProcessOutputBus();
	const { line, report } = collector();
	bus.register({
		name: "latency",
		sources: [OutputSources.logFile("x")],
		windowSize: 1,
		onLine: ([text]) => line(text),
	});
	const tailer = new LogFileTailer({ name: "x", type: "file", path: file, watch }, bus);
	await tailer.start();
	// The tailer keeps no program alive; the open pipe to our parent does.
	process.stdin.resume();
	console.log("ready");
	await report();
	await tailer.stop();
	process.stdin.destroy();
}

async function readWithTail(file) {
	const child = spawn("tail", ["-n", "0", "-F", file], { stdio: ["ignore", "pipe", "ignore"] });
	const { line, report } = collector();
	let rest = "";
	child.stdout.setEncoding("utf8").on("data", (chunk) => {
		const lines = (rest + chunk).split("\n");
		rest = lines.pop();
		for (const text of lines) line(text);
	});
	await delay(300);
	console.log("ready");
	await report();
	child.kill();
	process.stdin.destroy();
}
