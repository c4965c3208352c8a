// Fifty children stream 2 MB/s each for ten seconds through buses with a handler. Prints lines lost and the loop's delay.
import { spawn } from "node:child_process";
import { monitorEventLoopDelay } from "node:perf_hooks";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";

const [mode, ...args] = process.argv.slice(2);
if (mode === "child") await stream(Number(args[0]), Number(args[1]));
else await watch(Number(mode ?? 50), Number(args[0] ?? 10));

/** Writes about `megabytes` per second in lines of 1 KB, then how many lines there were. */
async function stream(megabytes, seconds) {
	const line = `${"x".repeat(1023)}\n`;
	const batch = line.repeat(Math.round((megabytes * 1000) / 20));
	let lines = 0;
	const end = performance.now() + seconds * 1000;
	while (performance.now() < end) {
		if (!process.stdout.write(batch)) await new Promise((resolve) => process.stdout.once("drain", resolve));
		lines += batch.length / line.length;
		await delay(50);
	}
	process.stdout.write(`total ${lines}\n`);
}

async function watch(children, seconds) {
	const { ManagedProcessFactory, OutputHandlerRegistry, OutputSources } = await import("../../dist/process.js");
	const idle = await idleDelay();
	const self = fileURLToPath(import.meta.url);
	const registry = new OutputHandlerRegistry();
	registry.registerFactory({
		name: "count",
		processFilter: ["*"],
		create: () => ({
			name: "count",
			sources: [OutputSources.stdout],
			windowSize: 1,
			lines: 0,
			total: -1,
			onLine([text]) {
				if (text.startsWith("total ")) this.total = Number(text.slice(6));
				else this.lines++;
			},
		}),
	});
	const factory = new ManagedProcessFactory(registry);
	const all = Array.from({ length: children }, () =>
		factory.create(
			spawn(process.execPath, [self, "child", "2", String(seconds)], { stdio: ["ignore", "pipe", "inherit"] }),
			{
				label: "stream",
			},
		),
	);
	// Starting fifty programs on two cores is not what is measured: the loop is watched once they stream.
	await Promise.all(all.map(({ bus }) => new Promise((resolve) => bus.subscribeLines(resolve))));
	const loop = monitorEventLoopDelay({ resolution: 1 });
	loop.enable();
	await Promise.all(all.map(({ settled }) => settled));
	loop.disable();
	const counts = all.map(({ bus }) => bus.getHandler("count"));
	console.log(
		JSON.stringify({
			children,
			lines: counts.reduce((sum, { lines }) => sum + lines, 0),
			lost: counts.reduce((sum, { lines, total }) => sum + (total - lines), 0),
			idleP99: idle,
			p99: loop.percentile(99) / 1e6,
		}),
	);
}

async function idleDelay() {
	const loop = monitorEventLoopDelay({ resolution: 1 });
	loop.enable();
	await delay(2000);
	loop.disable();
	return loop.percentile(99) / 1e6;
}
