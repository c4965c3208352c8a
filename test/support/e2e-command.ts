import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { text } from "node:stream/consumers";
import { onTestFinished } from "vitest";
import { PUBLISHED, type Scene } from "./e2e-scene.ts";

export interface CommandOptions {
	/** The published form by default. */
	readonly command?: string;
	/** Written to stdin; without it stdin is empty. */
	readonly input?: string;
	readonly env?: Readonly<Record<string, string | undefined>>;
}

export interface CommandRun {
	readonly code: number | null;
	readonly stdout: string;
	readonly stderr: string;
}

/** Runs `flightdeck` in the scene to its end. */
export async function flightdeck(scene: Scene, args: readonly string[], options?: CommandOptions): Promise<CommandRun> {
	return startFlightdeck(scene, args, options).ended;
}

/** Starts `flightdeck` in the scene; it is ended with the test at the latest. */
export function startFlightdeck(
	scene: Scene,
	args: readonly string[],
	{ command = PUBLISHED.command, input = "", env = {} }: CommandOptions = {},
): { readonly process: ChildProcess; readonly ended: Promise<CommandRun> } {
	const child = spawn(process.execPath, [command, ...args], { cwd: scene.cwd, env: { ...scene.env, ...env } });
	const closed = once(child, "close");
	onTestFinished(async () => {
		child.kill("SIGKILL");
		await closed;
	});
	child.stdin.on("error", (error) => child.stderr.emit("data", Buffer.from(error.message)));
	child.stdin.end(input);
	const ended = Promise.all([text(child.stdout), text(child.stderr), closed]).then(([stdout, stderr]) => ({
		code: child.exitCode,
		stdout,
		stderr,
	}));
	return { process: child, ended };
}
