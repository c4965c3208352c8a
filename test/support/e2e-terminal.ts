import { onTestFinished } from "vitest";
import { PI_CLI } from "../../support/run-pi.ts";
import { type ProgramInTerminal, startInTerminal } from "../../support/terminal.ts";
import { PARENT_PROMPT, PUBLISHED, type Scene } from "./e2e-scene.ts";

export const ENTER = "\r";
export const ESCAPE = "\u001b";
export const CTRL_D = "\u0004";
export const CTRL_O = "\u000f";

/** A real pi with the extension in a terminal. It is ended with the test at the latest. */
export function startPi(scene: Scene, columns: number, rows: number): ProgramInTerminal {
	const args = [PI_CLI, "--no-session", "-ne", "-e", PUBLISHED.extension, "--tui-mode", "regular"];
	return start(scene, args, columns, rows);
}

/** `flightdeck` in a terminal. It is ended with the test at the latest. */
export function flightdeckInTerminal(scene: Scene, args: readonly string[]): ProgramInTerminal {
	return start(scene, [PUBLISHED.command, ...args], 100, 40);
}

function start(scene: Scene, args: readonly string[], columns: number, rows: number): ProgramInTerminal {
	const env = { ...scene.env, TERM: "xterm-256color" };
	const terminal = startInTerminal({ command: process.execPath, args, cwd: scene.cwd, env, columns, rows });
	onTestFinished(() => terminal.dispose());
	return terminal;
}

/** Gives the prompt that the scripted parent answers to. */
export async function ask(terminal: ProgramInTerminal): Promise<void> {
	await terminal.until((screen) => screen.includes("m1"));
	terminal.type(PARENT_PROMPT);
	await terminal.until((screen) => screen.includes(PARENT_PROMPT.slice(0, 6)));
	terminal.type(ENTER);
}
