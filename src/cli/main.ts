import { printableText } from "../manager/describe-activity.ts";
import { RunRefusedError } from "../manager/prepare-run.ts";
import { PiNotFoundError } from "../runtimes/pi/locate-pi.ts";
import { packageFiles } from "../settings/package-files.ts";
import { type CommandContext, commandContext } from "./command-context.ts";
import { DOCTOR_USAGE, doctorCommand } from "./doctor-command.ts";
import { EXIT, type ExitCode, UsageError } from "./exit-codes.ts";
import { RUN_USAGE, runCommand } from "./run-command.ts";

const USAGE = `${RUN_USAGE}

${DOCTOR_USAGE}

flightdeck --help | --version

Exit codes: 0 completed, 1 failed, 2 usage, 130 stopped by the user.
`;

process.exitCode = await main(process.argv.slice(2));

async function main(args: readonly string[]): Promise<ExitCode> {
	try {
		return await dispatch(args, commandContext());
	} catch (error) {
		return report(error);
	}
}

async function dispatch([command, ...args]: readonly string[], context: CommandContext): Promise<ExitCode> {
	if (command === undefined || asksForHelp([command, ...args])) {
		context.stdout(USAGE);
		return command === undefined ? EXIT.usage : EXIT.completed;
	}
	switch (command) {
		case "--version":
		case "-v":
			context.stdout(`${packageFiles().version}\n`);
			return EXIT.completed;
		case "run":
			return runCommand(args, context);
		case "doctor":
			return doctorCommand(args, context);
		default:
			throw new UsageError(`There is no command "${command}".`);
	}
}

/** What stands behind `--` is no option, whatever it looks like. */
function asksForHelp(words: readonly string[]): boolean {
	const end = words.indexOf("--");
	const options = end === -1 ? words : words.slice(0, end);
	return words[0] === "help" || options.includes("--help") || options.includes("-h");
}

/** Says what went wrong. @returns the exit code for it; throws what nobody foresaw */
function report(error: unknown): ExitCode {
	const say = (text: string) => process.stderr.write(`${printableText(text)}\n`);
	if (error instanceof UsageError) {
		say(`${error.message}\n\n${USAGE}`);
		return EXIT.usage;
	}
	if (error instanceof RunRefusedError) {
		say(error.message);
		return EXIT.usage;
	}
	if (error instanceof PiNotFoundError) {
		say(error.message);
		return EXIT.failed;
	}
	if (isGoneFolder(error)) {
		say("The working directory does not exist any more. Change into another one.");
		return EXIT.failed;
	}
	throw error;
}

/** Node cannot tell the working directory when it was deleted. */
function isGoneFolder(error: unknown): boolean {
	return error instanceof Error && "syscall" in error && error.syscall === "uv_cwd";
}
