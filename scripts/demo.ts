// The package doing its main job, on a scripted model: no account, no network. `--help` says how to use a real model.
import { mkdir, mkdtemp, readFile, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import type { AgentEvent, ChildEvent } from "../src/events/agent-event.ts";
import type { RunView } from "../src/extension/run-view.ts";
import { describeCounters, printableLine } from "../src/manager/describe-activity.ts";
import { AgentRecord, subscribeRecordObserver, type UsageTotals } from "../src/observers/index.ts";
import { ManagedProcessFactory, OutputHandlerRegistry, spawnChecked } from "../src/process/index.ts";
import { formatCost, formatCount } from "../src/records/format.ts";
import { PI_LABEL, piEventsHandlerFactory } from "../src/runtimes/pi/events-handler.ts";
import { locatePi } from "../src/runtimes/pi/locate-pi.ts";
import { createAgentDirectory } from "../support/agent-directory.ts";
import type { Conversation } from "../support/model-script.ts";
import { startModelServer } from "../support/model-server.ts";

const HELP = `npm run demo                            the whole way on a scripted model: pi, its subagent tool, a child pi
npm run demo -- --model <provider/id> [task]
                                        the same with a real model: your own pi settings and credentials are used,
                                        and the tokens cost what they cost

Records are kept; the path is printed at the end. To use the package in pi itself: pi install npm:pi-flightdeck
`;

const extension = fileURLToPath(new URL("../dist/extension.ts", import.meta.url));
const TASK = "Where does this project read its configuration? Give file and line.";

/** What of the run has been printed. */
const printed = { turns: 0, tools: 0, doing: "", at: 0 };
/** At most so often, in milliseconds, is printed what the child is doing. */
const DOING_EVERY_MS = 400;

// Whoever pipes the demo into `head` has seen enough.
process.stdout.on("error", () => process.exit(0));
const asked = readArguments();
if (asked === undefined) {
	process.stderr.write(`The demo takes --model <provider/id>, and with it a task.\n\n${HELP}`);
	process.exitCode = 2;
} else if (asked.help) process.stdout.write(HELP);
else process.exitCode = asked.model ? await onRealModel(asked.model, asked.task ?? TASK) : await onScriptedModel();

/** @returns undefined for arguments that make no sense */
function readArguments() {
	try {
		const { values, positionals } = parseArgs({
			options: { help: { type: "boolean" }, model: { type: "string" } },
			allowPositionals: true,
		});
		const [task, ...more] = positionals;
		if (more.length > 0 || (task !== undefined && values.model === undefined)) return undefined;
		return { ...values, task };
	} catch {
		return undefined;
	}
}

async function onRealModel(model: string, task: string): Promise<number> {
	const prompt = `Use the subagent tool: let the agent scout do this task and tell me its answer. Task: ${task}`;
	const { ok } = await runParent(
		["--model", model, "--name", "pi-flightdeck demo"],
		prompt,
		process.cwd(),
		process.env,
	);
	return ok ? 0 : 1;
}

async function onScriptedModel(): Promise<number> {
	const server = await startModelServer({ conversations: [childScript(), parentScript()] });
	const directory = await createAgentDirectory({ modelServerUrl: server.url });
	const records = await mkdtemp(join(tmpdir(), "pi-flightdeck-demo-"));
	try {
		// Kept with the records, which name it.
		const workspace = join(records, "workspace");
		await writeWorkspace(workspace);
		const env = { ...directory.env, PI_FLIGHTDECK_DIR: records };
		const prompt = "PARENT: find out where this project reads its configuration.";
		const { ok, usage } = await runParent([], prompt, workspace, env);
		if (!ok) return 1;
		return matches(usage, server.served()) && server.unexpected().length === 0 ? 0 : 1;
	} finally {
		await server.stop();
		await directory.cleanup();
	}
}

/** Runs pi as a person would, with the extension as it is published, and prints what happens. */
async function runParent(args: string[], prompt: string, cwd: string, env: NodeJS.ProcessEnv) {
	const pi = locatePi({ resolveFrom: fileURLToPath(import.meta.url), env });
	const registry = new OutputHandlerRegistry<ChildEvent>();
	registry.registerFactory(piEventsHandlerFactory);
	say(`> ${prompt}\n`);
	const all = [...pi.args, "--mode", "json", "--no-extensions", "-e", extension, ...args];
	const child = spawnChecked({ command: pi.command, args: all, cwd, env });
	const parent = new ManagedProcessFactory(registry).create(child, { label: PI_LABEL });
	const record = new AgentRecord("demo");
	subscribeRecordObserver(parent.bus, record);
	let recordDir: string | undefined;
	parent.bus.subscribe((event) => {
		recordDir = show(event as AgentEvent) ?? recordDir;
	});
	// Ctrl-C in the terminal does not reach a child in a group of its own.
	process.once("SIGINT", () => void parent.stop("Ctrl-C"));
	child.stdin?.end(prompt);
	const outcome = await parent.settled;
	if (outcome.stopReason) {
		say(`\nStopped (${outcome.stopReason}). Nothing of it is left running.`);
		return { ok: false, usage: record.lifetimeUsage };
	}
	if (outcome.code !== 0 || record.turns === 0) say(`pi ended with code ${outcome.code}.\n${outcome.stderrTail}`);
	say(`\nAll in all, child included: ${describeCounters(record)}`);
	if (recordDir) {
		say(`\nThe record of the run: ${recordDir}\n`);
		say(await readFile(join(recordDir, "summary.md"), "utf8"));
	}
	const { subscriberErrors, lastError } = parent.bus.getMetrics();
	if (subscriberErrors > 0) say(`The demo could not show everything: ${lastError?.message}`);
	const ok = outcome.code === 0 && recordDir !== undefined && subscriberErrors === 0;
	return { ok, usage: record.lifetimeUsage };
}

/** Prints what is worth seeing of the parent. @returns the folder of the run record, when the event names it */
function show(event: AgentEvent): string | undefined {
	if (event.type === "tool_execution_start" && event.toolName === "subagent")
		say(`subagent ${printableLine(`${event.args.agent}: ${event.args.task}`)}`);
	if (event.type === "tool_execution_update" && event.toolName === "subagent")
		showProgress(event.partialResult.details);
	if (event.type === "tool_execution_end" && event.toolName === "subagent") {
		say(`\nWhat the parent's model gets:\n${event.result.content[0]?.text ?? ""}\n`);
		return event.result.details?.recordDir;
	}
	if (event.type === "message_end" && event.message.role === "assistant")
		for (const part of event.message.content) if (part.type === "text" && part.text) say(`pi: ${part.text}`);
	return undefined;
}

/** One line for every finished tool call and turn, and now and then what the child is doing. */
function showProgress(view: RunView | undefined): void {
	// There is nothing to see of a run that waits for its turn.
	if (!view) return;
	for (const tool of view.recentTools.slice(printed.tools)) say(`  [${tool.isError ? "failed" : "done"}] ${tool.text}`);
	// Several turns may have ended since the last update: the numbers are the totals so far.
	if (view.turns > printed.turns)
		say(`  [${view.turns} turns · ${formatCount(view.usage.input)} in / ${formatCount(view.usage.output)} out so far]`);
	const now = performance.now();
	if (view.doing !== printed.doing && now - printed.at > DOING_EVERY_MS) {
		say(`  … ${view.doing}`);
		printed.doing = view.doing;
		printed.at = now;
	}
	printed.tools = view.recentTools.length;
	printed.turns = view.turns;
}

function matches(usage: UsageTotals, served: { input: number; output: number; cacheRead: number }): boolean {
	const same = usage.input === served.input && usage.output === served.output && usage.cacheRead === served.cacheRead;
	const numbers = (u: typeof served) => `${u.input} in, ${u.output} out, ${u.cacheRead} cached`;
	say(
		same
			? `pi's totals are what the model server served: ${numbers(served)}, ${formatCost(usage.cost.total)}.`
			: `pi counted ${numbers(usage)}, but the model server served ${numbers(served)}.`,
	);
	return same;
}

function say(text: string): void {
	process.stdout.write(`${text}\n`);
}

function parentScript(): Conversation {
	return {
		name: "parent",
		when: "PARENT",
		answers: [
			{
				toolCalls: [{ name: "subagent", args: { agent: "scout", task: TASK, model: "", thinking: "", cwd: "" } }],
				usage: { input: 2210, output: 48 },
			},
			{
				text: "The configuration is read in src/config.js, line 3, as the scout found.",
				usage: { input: 460, output: 19, cacheRead: 2210 },
			},
		],
	};
}

function childScript(): Conversation {
	return {
		name: "child",
		when: TASK,
		answers: [
			{ toolCalls: [{ name: "read", args: { path: "package.json" } }], usage: { input: 1804, output: 31 } },
			{
				toolCalls: [{ name: "read", args: { path: "src/config.js" } }],
				usage: { input: 212, output: 27, cacheRead: 1804 },
			},
			{
				text: "Configuration is read in `src/config.js`, line 3: `loadConfig` parses `config.json` beside the project.\nNothing else reads it; `src/main.js` gets it as an argument.",
				usage: { input: 187, output: 41, cacheRead: 2016 },
				chunkCharacters: 12,
				chunkDelayMs: 60,
			},
		],
	};
}

async function writeWorkspace(cwd: string): Promise<void> {
	await mkdir(join(cwd, "src"), { recursive: true });
	const config =
		'import { readFileSync } from "node:fs";\n\nexport const loadConfig = () => JSON.parse(readFileSync("config.json", "utf8"));\n';
	await writeFile(join(cwd, "package.json"), '{ "name": "example", "type": "module", "main": "src/main.js" }\n');
	await writeFile(join(cwd, "src", "config.js"), config);
	await writeFile(join(cwd, "src", "main.js"), "export const main = (config) => console.log(config.greeting);\n");
}
