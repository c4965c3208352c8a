import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { onTestFinished } from "vitest";
import {
	type LifecycleEvent,
	type ManagedProcess,
	ManagedProcessFactory,
	type ManagedProcessFactoryOptions,
	type ManagedProcessOptions,
	OutputHandlerRegistry,
	type ProcessMarker,
} from "../../src/process/index.ts";

/** Command and arguments that run a script of `children/`. */
export function childCommand(script: string, args: readonly string[] = []): [string, string[]] {
	const path = fileURLToPath(new URL(`./children/${script}`, import.meta.url));
	return [script.endsWith(".sh") ? "/bin/sh" : process.execPath, [path, ...args]];
}

export interface StartOptions extends Partial<ManagedProcessOptions> {
	readonly args?: readonly string[];
	readonly env?: NodeJS.ProcessEnv;
	/** Default true: a group of its own. */
	readonly detached?: boolean;
	readonly factory?: ManagedProcessFactoryOptions;
	readonly registry?: OutputHandlerRegistry;
}

export interface StartedChild {
	readonly child: ChildProcess;
	readonly managed: ManagedProcess;
	readonly pid: number;
	/** Every line so far, of both streams. */
	readonly lines: string[];
	readonly lifecycle: LifecycleEvent[];
	/** The rest of the first line that begins with `word`; waits for it. */
	said(word: string): Promise<string>;
	/** The pid in that line, of a process that is ended with the test. */
	saidPid(word: string): Promise<number>;
}

/** Starts a script of `children/` as a managed process that ends with the test. */
export function startChild(script: string, options: StartOptions = {}): StartedChild {
	const { args, env = {}, detached = true, factory, registry = new OutputHandlerRegistry(), ...rest } = options;
	const marker = rest.envMarker ? { [rest.envMarker.name]: rest.envMarker.value } : {};
	const child = spawn(...childCommand(script, args), {
		detached,
		env: { ...process.env, ...marker, ...env },
		stdio: ["ignore", "pipe", "pipe"],
	});
	const managed = new ManagedProcessFactory(registry, factory).create(child, { label: "test", ...rest });
	if (child.pid === undefined) throw new Error(`${script} did not start`);
	endAfterTest(child.pid);
	const lines: string[] = [];
	const lifecycle: LifecycleEvent[] = [];
	managed.on("line", (line) => lines.push(line));
	managed.on("lifecycle", (event) => lifecycle.push(event));
	const said = async (word: string): Promise<string> => {
		const find = () => lines.find((line) => line === word || line.startsWith(`${word} `));
		await until(`${script} says ${word}`, () => find() !== undefined);
		return find()?.slice(word.length + 1) ?? "";
	};
	return {
		child,
		managed,
		pid: child.pid,
		lines,
		lifecycle,
		said,
		saidPid: async (word) => endAfterTest(Number(await said(word))),
	};
}

/** Ends a process when the test is over, if it is still the same one. */
export function endAfterTest(pid: number): number {
	const startedAt = startTime(pid);
	onTestFinished(() => {
		if (startedAt !== undefined && startTime(pid) === startedAt) process.kill(pid, "SIGKILL");
	});
	return pid;
}

/** Whether a process is there and no zombie. */
export function isAlive(pid: number): boolean {
	return startTime(pid) !== undefined;
}

/** When a living process started, in ticks since boot; undefined when it is gone or a zombie. */
function startTime(pid: number): string | undefined {
	const fields = statFields(pid);
	return fields?.[0] === "Z" ? undefined : fields?.[19];
}

/** `/proc/<pid>/stat` from the state on. */
function statFields(pid: number): string[] | undefined {
	try {
		return readFileSync(`/proc/${pid}/stat`, "latin1")
			.replace(/^.*\) /s, "")
			.split(" ");
	} catch {
		return undefined; // Gone.
	}
}

/** Whether a process has ended without being collected. */
export function isZombie(pid: number): boolean {
	return statFields(pid)?.[0] === "Z";
}

/** Resolves once the condition holds; rejects with what was awaited after the deadline. */
export async function until(what: string, condition: () => boolean, deadlineMs = 20_000): Promise<void> {
	const end = performance.now() + deadlineMs;
	while (!condition()) {
		if (performance.now() > end) throw new Error(`not within ${deadlineMs} ms: ${what}`);
		await new Promise((resolve) => setTimeout(resolve, 5));
	}
}

/** Blocks the event loop. */
export function busyFor(ms: number): void {
	const end = performance.now() + ms;
	while (performance.now() < end);
}

/** A marker that no other test uses. */
export function newMarker(): ProcessMarker {
	return { name: "FLIGHTDECK_TEST_MARKER", value: crypto.randomUUID() };
}

/** An empty directory that is removed when the test ends. */
export function temporaryDirectory(): string {
	const directory = mkdtempSync(join(tmpdir(), "flightdeck-process-"));
	onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
	return directory;
}
