// Run by import.test.ts in a process of its own: tells what loading the extension starts.
import { createHook } from "node:async_hooks";
import { createRequire } from "node:module";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import * as piAgent from "@earendil-works/pi-coding-agent";
import * as piTui from "@earendil-works/pi-tui";
import * as typebox from "typebox";
import { createProcessTable } from "../../src/process/process-table.ts";

/** What outlives the import and acts by itself. Files that are read, and promises, are no such things. */
const STARTED =
	/^(Timeout|Immediate|FSEVENTWRAP|STATWATCHER|PROCESSWRAP|PIPEWRAP|SIGNALWRAP|TCP.*|WORKER|MESSAGEPORT)$/;
const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP", "exit", "beforeExit", "uncaughtException", "unhandledRejection"];

const host = {
	"@earendil-works/pi-coding-agent": piAgent,
	"@earendil-works/pi-tui": piTui,
	typebox,
};
const subscribed: string[] = [];
const registered: string[] = [];
const stub = {
	on: (event: string) => subscribed.push(event),
	registerTool: () => registered.push("tool"),
	registerCommand: () => registered.push("command"),
};

/** Loaded as pi loads it: sources as a module, the published core by its own `require`. */
async function load(file: string): Promise<(pi: typeof stub) => void> {
	const path = join(fileURLToPath(new URL("../..", import.meta.url)), file);
	if (!path.endsWith(".cjs")) return (await import(path)).default;
	return createRequire(import.meta.url)(path)(host).default;
}

const handlersBefore = new Map(SIGNALS.map((name) => [name, process.listenerCount(name)]));
const resourcesBefore = process.getActiveResourcesInfo();
const created: string[] = [];
const hook = createHook({
	init: (_id, type) => {
		if (STARTED.test(type)) created.push(type);
	},
}).enable();

const extension = await load(process.argv[2] ?? "");
extension(stub);
// A whole turn of the event loop, for what is only started then; the one thing that is created here.
await new Promise((resolve) => setImmediate(resolve));
const handlersAdded = SIGNALS.filter((name) => process.listenerCount(name) !== handlersBefore.get(name));
hook.disable();

const resources = process.getActiveResourcesInfo();
for (const known of resourcesBefore) if (resources.includes(known)) resources.splice(resources.indexOf(known), 1);
const processes = await createProcessTable().list();
process.stdout.write(
	JSON.stringify({
		resources: resources.filter((name) => name !== "Immediate"),
		created: created.filter((type) => type !== "Immediate"),
		handlersAdded,
		childProcesses: processes.filter(({ ppid }) => ppid === process.pid).map(({ pid }) => pid),
		subscribed: subscribed.toSorted(),
		registered,
	}),
);
