// Reads text lines through the bus with one handler that looks for a regular expression. Prints what it cost and found.
import { spawn } from "node:child_process";
import { ManagedProcessFactory, OutputHandlerRegistry, OutputSources } from "../../dist/process.js";
import { startMeter } from "./meter.mjs";

const [file] = process.argv.slice(2);
let matches = 0;
const registry = new OutputHandlerRegistry();
registry.registerFactory({
	name: "errors",
	processFilter: ["*"],
	create: () => ({
		name: "errors",
		sources: [OutputSources.stdout],
		windowSize: 1,
		onLine: ([line]) => {
			if (/error (\d+)/.test(line)) matches++;
		},
	}),
});
const meter = startMeter();
const child = spawn("cat", [file], { stdio: ["ignore", "pipe", "inherit"] });
const managed = new ManagedProcessFactory(registry).create(child, { label: "text" });
await managed.settled;
const { linesBySource, bytes } = managed.bus.getMetrics();
meter.print({ lines: linesBySource.stdout, bytes, matches });
