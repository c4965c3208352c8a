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

process.exitCode = await main(process.argv.slice(2), commandContext());

async function main([command, ...args]: string[], context: CommandContext): Promise<ExitCode> {
	try {
		if (
			command === undefined ||
			command === "--help" ||
			command === "-h" ||
			command === "help" ||
			args.some((arg) => arg === "--help" || arg === "-h")
		) {
			context.stdout(USAGE);
			return command === undefined ? EXIT.usage : EXIT.completed;
		}
		if (command === "--version" || command === "-v") {
			context.stdout(`${packageFiles().version}\n`);
			return EXIT.completed;
		}
		if (command === "run") return await runCommand(args, context);
		if (command === "doctor") return await doctorCommand(args, context);
		throw new UsageError(`There is no command "${command}".`);
	} catch (error) {
		if (error instanceof UsageError) {
			context.stderr(`${error.message}\n\n${USAGE}`);
			return EXIT.usage;
		}
		if (error instanceof RunRefusedError || error instanceof PiNotFoundError) {
			context.stderr(`${error.message}\n`);
			return error instanceof RunRefusedError ? EXIT.usage : EXIT.failed;
		}
		throw error;
	}
}
