import { execFile } from "node:child_process";
import { constants } from "node:fs";
import { access } from "node:fs/promises";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { printableLine } from "../manager/describe-activity.ts";
import { loadCatalogue } from "../manager/load-catalogue.ts";
import { makeDirectory } from "../process/index.ts";
import { PiNotFoundError, type PiProgram } from "../runtimes/pi/locate-pi.ts";
import { packageFiles } from "../settings/package-files.ts";
import { type CommandContext, findPi } from "./command-context.ts";
import { EXIT, type ExitCode, UsageError } from "./exit-codes.ts";
import { minimumNode, runsOn } from "./node-version.ts";

export const DOCTOR_USAGE = `flightdeck doctor [--pi <path>]   look whether everything that a run needs is there`;

/** What a check found: fine, worth knowing, or in the way of a run. */
interface Finding {
	readonly level: "ok" | "warning" | "error";
	readonly text: string;
}

/** `flightdeck doctor`: one line per finding. Exit code 1 if a run could not work. */
export async function doctorCommand(args: readonly string[], context: CommandContext): Promise<ExitCode> {
	const pi = parse(args);
	const findings = [
		checkNode(),
		await checkPackage(),
		...(await checkPi(context, pi)),
		...(await checkAgents(context)),
		await checkRecords(context),
	];
	for (const { level, text } of findings) context.stdout(`${level.padEnd(7)} ${printableLine(text, 2000)}\n`);
	return findings.some(({ level }) => level === "error") ? EXIT.failed : EXIT.completed;
}

function parse(args: readonly string[]): string | undefined {
	try {
		return parseArgs({ args: [...args], options: { pi: { type: "string" } } }).values.pi;
	} catch (error) {
		throw new UsageError(error instanceof Error ? error.message : String(error));
	}
}

function checkNode(): Finding {
	if (runsOn(process.versions.node)) return { level: "ok", text: `Node.js ${process.version}` };
	return {
		level: "error",
		text: `Node.js ${process.version} is too old. Install ${minimumNode} or newer.`,
	};
}

async function checkPackage(): Promise<Finding> {
	const { version, root, childExtension, builtinAgentsDir } = packageFiles();
	for (const file of [childExtension, builtinAgentsDir]) {
		try {
			await access(file, constants.R_OK);
		} catch {
			// Whatever keeps it from being read, the remedy is the same.
			return { level: "error", text: `pi-flightdeck ${version} is incomplete: ${file} is missing. Install it again.` };
		}
	}
	return { level: "ok", text: `pi-flightdeck ${version} (${root})` };
}

/** How long pi may take to answer, in milliseconds (measured: 600 to 700). */
const PI_ANSWER_MS = 20_000;

/** Finds pi and asks it two things: whether it is pi, and whether it has a model to run with. */
async function checkPi(context: CommandContext, override: string | undefined): Promise<Finding[]> {
	let program: PiProgram;
	try {
		program = findPi(context, override);
	} catch (error) {
		if (error instanceof PiNotFoundError) return [{ level: "error", text: error.message }];
		throw error;
	}
	const command = [program.command, ...program.args].join(" ");
	const [version, models] = await Promise.all([ask(program, "--version"), ask(program, "--list-models")]);
	if (!/^\d+\.\d+\.\d+/m.test(version)) return [{ level: "error", text: `${command} is not pi: it names no version.` }];
	const found: Finding = {
		level: "ok",
		text: `pi ${program.version ?? version.trim()} (${program.foundBy}: ${command})`,
	};
	if (!/no models available/i.test(models)) return [found];
	return [
		found,
		{ level: "warning", text: "pi has no model to run with. Start pi and use /login, or set an API key." },
	];
}

/** What pi prints for a flag, on either stream; empty when it cannot be run or takes too long. */
function ask({ command, args }: PiProgram, flag: string): Promise<string> {
	const options = { timeout: PI_ANSWER_MS, windowsHide: true, env: { ...process.env, PI_OFFLINE: "1" } };
	return new Promise((resolve) =>
		execFile(command, [...args, flag], options, (_error, stdout, stderr) => resolve(`${stdout}${stderr}`)),
	);
}

async function checkAgents(context: CommandContext): Promise<Finding[]> {
	const { catalogue, problems } = await loadCatalogue({ ...context, projectTrusted: true });
	const origin = { builtin: "", user: " (user)", project: " (project: needs --approve)" };
	const names = catalogue.agents.map(({ name, source }) => `${name}${origin[source]}`);
	return [
		{ level: names.length > 0 ? "ok" : "error", text: `agents: ${names.join(", ") || "none"}` },
		...problems.map(({ file, message }): Finding => ({ level: "warning", text: `${file}: ${message}` })),
	];
}

async function checkRecords({ flightdeckDir }: CommandContext): Promise<Finding> {
	try {
		const runs = join(flightdeckDir, "runs");
		makeDirectory(runs);
		await access(runs, constants.W_OK);
		return { level: "ok", text: `records in ${flightdeckDir}` };
	} catch (error) {
		const why = error instanceof Error ? error.message : String(error);
		return { level: "error", text: `records cannot be written: ${why}. Set PI_FLIGHTDECK_DIR to a folder of yours.` };
	}
}
