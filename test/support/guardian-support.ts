import { type ChildProcess, type SpawnOptions, spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { afterEach } from "vitest";
import { identify, type ProcessIdentity, signalIfSame } from "../../src/process/process-identity.ts";
import { createProcessTable, type ProcessMarker } from "../../src/process/process-table.ts";

const table = createProcessTable();
const started: ProcessIdentity[] = [];

afterEach(async () => {
	for (const identity of started.splice(0)) await signalIfSame(identity, "SIGKILL", table);
});

/** Resolves once the condition holds; rejects with what was awaited when it does not within the deadline. */
export async function until(
	what: string,
	condition: () => boolean | Promise<boolean>,
	deadlineMs = 10_000,
): Promise<void> {
	const end = performance.now() + deadlineMs;
	while (!(await condition())) {
		if (performance.now() > end) throw new Error(`not within ${deadlineMs} ms: ${what}`);
		await new Promise((resolve) => setTimeout(resolve, 10));
	}
}

/** Remembers a process that a test started, to end it after the test if it still lives. */
export async function endAfterTest(pid: number): Promise<ProcessIdentity> {
	const identity = await identify(pid, table);
	if (identity === undefined) throw new Error(`pid ${pid} does not live`);
	started.push(identity);
	return identity;
}

/** Starts a process that ends with the test. */
export async function start(
	command: string,
	args: readonly string[],
	options: SpawnOptions = {},
): Promise<{ readonly child: ChildProcess; readonly pid: number }> {
	const child = spawn(command, [...args], { stdio: "ignore", ...options });
	const pid = child.pid;
	if (pid === undefined) throw new Error(`${command} did not start`);
	await endAfterTest(pid);
	return { child, pid };
}

/** A marker that no other test uses. */
export function newMarker(): ProcessMarker {
	return { name: "FLIGHTDECK_TEST_MARKER", value: randomUUID() };
}

/** The environment of this process with a marker. */
export function marked(marker: ProcessMarker): NodeJS.ProcessEnv {
	return { ...process.env, [marker.name]: marker.value };
}

/** Whether a process exists and is no zombie. */
export async function lives(pid: number): Promise<boolean> {
	const entry = await table.find(pid);
	return entry !== undefined && !entry.zombie;
}
