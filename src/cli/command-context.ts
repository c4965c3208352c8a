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
	const agentDir = given ? resolve(given.replace(/^~(?=$|[/\\])/, homedir())) : join(homedir(), ".pi", "agent");
	return {
		env,
		cwd: process.cwd(),
		agentDir,
		flightdeckDir: flightdeckDirectory({ env, agentDir }),
		stdout: (text) => void process.stdout.write(text),
		stderr: (text) => void process.stderr.write(text),
	};
}

/** @throws PiNotFoundError */
export function findPi({ env }: CommandContext, override: string | undefined): PiProgram {
	return locatePi({ override, resolveFrom: fileURLToPath(import.meta.url), env });
}
