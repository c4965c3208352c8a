#!/usr/bin/env node
// Only this file may be read by an older Node.js: everything else is imported once the version is known to be enough.
import { minimumNode, runsOn } from "./node-version.ts";

if (runsOn(process.versions.node)) await import("./main.ts");
else {
	process.stderr.write(`flightdeck needs Node.js ${minimumNode} or newer; this is ${process.version}.\n`);
	process.exitCode = 1;
}
