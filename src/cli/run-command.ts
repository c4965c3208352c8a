import { resolve } from "node:path";
import { text as readAll } from "node:stream/consumers";
import { parseArgs } from "node:util";
import { AgentManager } from "../manager/agent-manager.ts";
import { describeCounters, printableLine, printableText } from "../manager/describe-activity.ts";
import { type Catalogue, loadCatalogue } from "../manager/load-catalogue.ts";
import { planRun, type RunPlan } from "../manager/prepare-run.ts";
import type { RunResult } from "../manager/spawn-options.ts";
import { formatDuration } from "../records/format.ts";
import { formatHeader } from "../records/header.ts";
import { currentDepth } from "../runtimes/pi/pi-environment.ts";
import { flagName, optionsOf, RUN_OPTIONS } from "../settings/option-table.ts";
import { packageFiles } from "../settings/package-files.ts";
import { type CommandContext, findPi } from "./command-context.ts";
import { EXIT, type ExitCode, UsageError } from "./exit-codes.ts";
import { ProgressPrinter } from "./progress-printer.ts";

export const RUN_USAGE = `flightdeck run <agent> <task>     run a task; "-" reads it from standard input

${optionsOf("flag")
	.map((name) => `  --${`${flagName(name)} <value>`.padEnd(20)} ${RUN_OPTIONS[name].description}`)
	.join("\n")}
  --pi <path>            the pi program to run
  --approve              trust the project: its agents, settings and resources are loaded
  --json                 print the outcome as JSON
  --plain                print progress line by line, also on a terminal`;

/** `flightdeck run`: the answer on standard output, everything else on standard error. */
export async function runCommand(args: readonly string[], context: CommandContext): Promise<ExitCode> {
	const { values, positionals } = parse(args);
	const [agent, given, ...rest] = positionals;
	if (agent === undefined || given === undefined) throw new UsageError("run needs an agent and a task.");
	if (rest.length > 0) throw new UsageError("The task is more than one argument. Put it in quotes.");
	const task = given === "-" ? await readAll(process.stdin) : given;
	const projectTrusted = values.approve ?? false;
	// The project is the one that the run works in, wherever the command was called.
	const loaded = await loadCatalogue({ ...context, cwd: resolve(context.cwd, values.cwd ?? ""), projectTrusted });
	const plan = planRun(
		{ agent, task, model: values.model, thinking: values.thinking, cwd: values.cwd },
		{ explicitSource: "flag", cwd: context.cwd, depth: currentDepth(context.env) },
		loaded,
	);
	for (const { file, message } of relevantProblems(loaded, plan))
		context.stderr(`${printableLine(`${file}: ${message}`, 500)}\n`);
	const manager = new AgentManager({ ...context, program: findPi(context, values.pi) });
	const interrupt = new AbortController();
	const ends = onInterrupt(
		() => interrupt.abort("stopped by the user"),
		() => manager.abandon(),
	);
	const printer = new ProgressPrinter(context.stderr, interactive(values));
	try {
		const result = await manager.spawnAndWait({
			...plan,
			projectTrusted,
			startedBy: "command",
			signal: interrupt.signal,
			onProcessCreated: (process, { record }) => {
				const header = formatHeader(packageFiles(), record.runId, plan.agent.name, plan.model);
				context.stderr(`${printableText(header)}\n`);
				printer.follow(process.bus, record);
			},
		});
		printer.end();
		await printResult(result, values.json ?? false, context);
		return exitCodeOf(result);
	} finally {
		printer.end();
		ends();
		manager.dispose();
	}
}

/** What is wrong with the agent that runs and with settings; `doctor` tells the rest. */
function relevantProblems({ catalogue, problems }: Catalogue, { agent }: RunPlan) {
	const others = new Set([...catalogue.agents.map(({ file }) => file), ...catalogue.problems.map(({ file }) => file)]);
	return problems.filter(({ file }) => file === agent.file || !others.has(file));
}

function parse(args: readonly string[]) {
	try {
		return parseArgs({
			args: [...args],
			allowPositionals: true,
			options: {
				model: { type: "string" },
				thinking: { type: "string" },
				cwd: { type: "string" },
				pi: { type: "string" },
				approve: { type: "boolean" },
				json: { type: "boolean" },
				plain: { type: "boolean" },
			},
		});
	} catch (error) {
		throw new UsageError(error instanceof Error ? error.message : String(error));
	}
}

/** Decided once, by the terminal and the flags. */
function interactive(values: { json?: boolean | undefined; plain?: boolean | undefined }): boolean {
	return process.stderr.isTTY === true && !values.json && !values.plain;
}

/** The first Ctrl-C or TERM stops the run, the second ends this program; the guardian then ends the child. */
function onInterrupt(stop: () => void, beforeExit: () => void): () => void {
	let seen = false;
	const handle = () => {
		if (!seen) {
			seen = true;
			stop();
			return;
		}
		beforeExit();
		process.exit(EXIT.stopped);
	};
	const signals = ["SIGINT", "SIGTERM", "SIGHUP"] as const;
	for (const signal of signals) process.on(signal, handle);
	return () => {
		for (const signal of signals) process.off(signal, handle);
	};
}

async function printResult(result: RunResult, json: boolean, context: CommandContext): Promise<void> {
	const { outcome, record } = result;
	if (json) {
		const { runId, status, lifetimeUsage: usage, turns, toolUses, retries } = record;
		const { recordDir, resultFile, recordProblem, model } = result;
		context.stdout(
			`${JSON.stringify({ runId, ...outcome, status, model, usage, turns, toolUses, retries, recordDir, resultFile, recordProblem })}\n`,
		);
		return;
	}
	// To a file or a program the answer goes as it is; a terminal would obey what is in it.
	const answer = outcome.answer?.trimEnd();
	if (answer) context.stdout(`${process.stdout.isTTY ? printableText(answer) : answer}\n`);
	for (const line of closingLines(result)) context.stderr(`${printableText(line)}\n`);
}

function closingLines({ outcome, record, recordDir, recordProblem }: RunResult): string[] {
	const duration = formatDuration((record.completedAt ?? record.createdAt) - record.createdAt);
	return [
		`${record.status}${outcome.exitPath === "done" ? "" : ` (${outcome.exitPath})`}${outcome.reason ? `: ${outcome.reason}` : ""}`,
		`${describeCounters(record)} · ${duration}`,
		...outcome.warnings.map((warning) => `warning: ${warning}`),
		...(recordProblem ? [`warning: the record is incomplete: ${recordProblem}`] : []),
		...(recordDir ? [`record: ${recordDir}`] : []),
	];
}

function exitCodeOf({ record }: RunResult): ExitCode {
	if (record.status === "completed") return EXIT.completed;
	return record.status === "stopped" ? EXIT.stopped : EXIT.failed;
}
