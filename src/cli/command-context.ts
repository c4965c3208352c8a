import { homedir } from "node:os";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { flightdeckDirectory } from "../records/run-directory.ts";
import { locatePi, type PiProgram } from "../runtimes/pi/locate-pi.ts";

/** What a command works with, taken from the environment once. */
export interface CommandContext {
	readonly env: NodeJS.ProcessEnv;
	readonly cwd: string;
	/** pi's own folder. */
	readonly agentDir: string;
	readonly flightdeckDir: string;
	readonly stdout: (text: string) => void;
	readonly stderr: (text: string) => void;
}

export function commandContext(env: NodeJS.ProcessEnv = process.env): CommandContext {
	// The same rule as pi's: its own variable, else the folder in the home directory.
	const given = env.PI_CODING_AGENT_DIR;
	// The home directory is asked for only where it is needed: some users have none.
	const agentDir = given ? resolve(given.replace(/^~(?=$|[/\\])/, () => homedir())) : join(homedir(), ".pi", "agent");
	return {
		env,
		cwd: process.cwd(),
		agentDir,
		flightdeckDir: flightdeckDirectory({ env, agentDir }),
		stdout: writerTo(process.stdout),
		stderr: writerTo(process.stderr),
	};
}

/** Whoever reads us may go away: from then on nothing is written, and what is under way goes on to its end. */
function writerTo(stream: NodeJS.WriteStream): (text: string) => void {
	let broken = false;
	stream.on("error", () => {
		broken = true;
	});
	return (text) => {
		if (!broken) stream.write(text);
	};
}

/** @throws PiNotFoundError */
export function findPi({ env }: CommandContext, override: string | undefined): PiProgram {
	return locatePi({ override, resolveFrom: fileURLToPath(import.meta.url), env });
}
