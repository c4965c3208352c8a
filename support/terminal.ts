import { type IPty, spawn } from "@lydell/node-pty";
import xterm from "@xterm/headless";
import { createChangeSignal } from "./change-signal.ts";

/** A program in a real terminal, looked at as a person would. */
export interface ProgramInTerminal {
	/** What stands on the screen now, one string a row, without trailing blanks. */
	screen(): string[];
	/** Titles that the program gave the window. */
	titles(): readonly string[];
	/** Waits until the screen is as wanted. @throws Error with the screen in it after `timeoutMs` */
	until(wanted: (screen: string) => boolean, timeoutMs?: number): Promise<void>;
	type(text: string): void;
	resize(columns: number, rows: number): void;
	/** Resolves when the program has ended. */
	readonly exited: Promise<{ exitCode: number; signal?: number | undefined }>;
	/** Ends the program if it still runs. */
	dispose(): void;
}

/** How long `until` waits, in milliseconds, unless told otherwise. */
const UNTIL_MS = 30_000;

/** Starts a program in a pseudo-terminal of the given size. */
export function startInTerminal(options: {
	readonly command: string;
	readonly args: readonly string[];
	readonly cwd: string;
	readonly env: NodeJS.ProcessEnv;
	readonly columns: number;
	readonly rows: number;
}): ProgramInTerminal {
	const { command, args, cwd, env, columns, rows } = options;
	const terminal = new xterm.Terminal({ cols: columns, rows, allowProposedApi: true, scrollback: 2000 });
	const pty: IPty = spawn(command, [...args], { cols: columns, rows, cwd, env, name: "xterm-256color" });
	const changed = createChangeSignal();
	const exit = Promise.withResolvers<{ exitCode: number; signal?: number | undefined }>();
	let running = true;
	pty.onData((data) => terminal.write(data, () => changed.notify()));
	// The program asks the terminal what it can do, and waits for the answers.
	terminal.onData((data) => running && pty.write(data));
	pty.onExit((how) => {
		running = false;
		exit.resolve(how);
		changed.notify();
	});
	const titles: string[] = [];
	terminal.onTitleChange((title) => titles.push(title));
	const screen = () =>
		Array.from(
			{ length: terminal.rows },
			(_, row) => terminal.buffer.active.getLine(terminal.buffer.active.viewportY + row)?.translateToString(true) ?? "",
		);
	return {
		screen,
		titles: () => titles,
		until: (wanted, timeoutMs = UNTIL_MS) => {
			const { promise, resolve, reject } = Promise.withResolvers<void>();
			const timer = setTimeout(
				() => reject(new Error(`The screen did not become as wanted:\n${screen().join("\n")}`)),
				timeoutMs,
			);
			changed.firstOf(() => wanted(screen().join("\n")) || undefined).then(() => resolve(), reject);
			return promise.finally(() => clearTimeout(timer));
		},
		type: (text) => pty.write(text),
		resize: (toColumns, toRows) => {
			terminal.resize(toColumns, toRows);
			pty.resize(toColumns, toRows);
		},
		exited: exit.promise,
		dispose: () => {
			if (running) pty.kill("SIGKILL");
			terminal.dispose();
		},
	};
}
