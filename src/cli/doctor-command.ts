import { constants } from "node:fs";
import { access } from "node:fs/promises";
import { parseArgs } from "node:util";
import { loadCatalogue } from "../manager/load-catalogue.ts";
import { makeDirectory } from "../process/index.ts";
import { PiNotFoundError } from "../runtimes/pi/locate-pi.ts";
import { packageFiles } from "../settings/package-files.ts";
import { type CommandContext, findPi } from "./command-context.ts";
import { EXIT, type ExitCode, UsageError } from "./exit-codes.ts";

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
		checkPi(context, pi),
		...(await checkAgents(context)),
		await checkRecords(context),
	];
	for (const { level, text } of findings) context.stdout(`${level.padEnd(7)} ${text}\n`);
	return findings.some(({ level }) => level === "error") ? EXIT.failed : EXIT.completed;
}

function parse(args: readonly string[]): string | undefined {
	try {
		return parseArgs({ args: [...args], options: { pi: { type: "string" } } }).values.pi;
	} catch (error) {
		throw new UsageError(error instanceof Error ? error.message : String(error));
	}
}

/** The oldest Node.js that pi runs on, from its package.json. */
const NODE = { major: 22, minor: 19 };

function checkNode(): Finding {
	const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);
	const fine = major > NODE.major || (major === NODE.major && minor >= NODE.minor);
	if (fine) return { level: "ok", text: `Node.js ${process.version}` };
	return {
		level: "error",
		text: `Node.js ${process.version} is too old. Install ${NODE.major}.${NODE.minor} or newer.`,
	};
}

async function checkPackage(): Promise<Finding> {
	const { version, root, childExtension, builtinAgentsDir } = packageFiles();
	for (const file of [childExtension, builtinAgentsDir]) {
		try {
			await access(file, constants.R_OK);
		} catch {
			return { level: "error", text: `pi-flightdeck ${version} is incomplete: ${file} is missing. Install it again.` };
		}
	}
	return { level: "ok", text: `pi-flightdeck ${version} (${root})` };
}

function checkPi(context: CommandContext, override: string | undefined): Finding {
	try {
		const { version, command, args, foundBy } = findPi(context, override);
		return { level: "ok", text: `pi ${version ?? "of unknown version"} (${foundBy}: ${[command, ...args].join(" ")})` };
	} catch (error) {
		if (error instanceof PiNotFoundError) return { level: "error", text: error.message };
		throw error;
	}
}

async function checkAgents(context: CommandContext): Promise<Finding[]> {
	const { catalogue, problems } = await loadCatalogue({ ...context, projectTrusted: true });
	const names = catalogue.agents.map(({ name, source }) => (source === "builtin" ? name : `${name} (${source})`));
	return [
		{ level: names.length > 0 ? "ok" : "error", text: `agents: ${names.join(", ") || "none"}` },
		...problems.map(({ file, message }): Finding => ({ level: "warning", text: `${file}: ${message}` })),
	];
}

async function checkRecords({ flightdeckDir }: CommandContext): Promise<Finding> {
	try {
		makeDirectory(flightdeckDir);
		await access(flightdeckDir, constants.W_OK);
		return { level: "ok", text: `records in ${flightdeckDir}` };
	} catch (error) {
		const why = error instanceof Error ? error.message : String(error);
		return { level: "error", text: `records cannot be written: ${why}. Set PI_FLIGHTDECK_DIR to a folder of yours.` };
	}
}
