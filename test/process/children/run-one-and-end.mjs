// Imports the process layer, and with "run" watches one child with a log source and a time-out from start to end. Prints
// what is then left that keeps a program alive; ends only by itself.
import { spawn } from "node:child_process";
import { appendFileSync } from "node:fs";
import { join } from "node:path";
import { setImmediate } from "node:timers/promises";

const listenersOf = () => process.eventNames().map((name) => `${String(name)} ${process.listenerCount(name)}`);
/** What keeps the program alive beyond what did at its start. */
const more = () => {
	const known = [...atStart];
	return process.getActiveResourcesInfo().filter((name) => {
		const at = known.indexOf(name);
		if (at >= 0) known.splice(at, 1);
		return at < 0;
	});
};
// Node opens these, with their pipes, on first use.
process.stdout.write("");
process.stderr.write("");
const atStart = process.getActiveResourcesInfo();
const before = listenersOf();
const { ManagedProcessFactory, OutputHandlerRegistry, OutputSources } = await import("../../../src/process/index.ts");
const imported = { left: more(), listeners: listenersOf() };
const lines = [];
if (process.argv[2] === "run") {
	const log = join(process.argv[3], "x.log");
	const registry = new OutputHandlerRegistry();
	const onLine = ([line]) => lines.push(line);
	const sources = [OutputSources.stdout, OutputSources.logFile("log")];
	registry.registerFactory({
		name: "h",
		processFilter: ["*"],
		create: () => ({ name: "h", sources, windowSize: 1, onLine }),
	});
	const child = spawn("/bin/sh", ["-c", "echo ready; exec sleep 1000"], {
		detached: true,
		stdio: ["ignore", "pipe", "pipe"],
	});
	const logSources = [
		{ name: "log", type: "file", path: log },
		{ name: "logs", type: "directory", path: join(process.argv[3], "logs"), watch: false },
	];
	const managed = new ManagedProcessFactory(registry).create(child, { label: "x", logSources });
	managed.trackOperation("never done", { timeoutMs: 600_000 });
	appendFileSync(log, "logged\n");
	await new Promise((resolve) => managed.on("line", resolve));
	managed.kill();
	await managed.stop("user");
	managed.bus.dispose();
}
// Handles close in the next turn of the loop.
for (let turn = 0; turn < 3; turn++) await setImmediate();
console.log(JSON.stringify({ imported, left: more(), lines: lines.sort(), before, after: listenersOf() }));
