import { spawn } from "node:child_process";
import type { ProcessTable } from "./process-table.ts";
import { descendantsOf } from "./process-tree.ts";
import type { LadderOptions, LadderResult } from "./stop-ladder.ts";
import { polledWithin, settledWithin } from "./wait.ts";

/** Runs taskkill with these arguments to its end. Never rejects: what counts is what the process table says afterwards. */
export type RunTaskkill = (args: readonly string[]) => Promise<void>;

/** How long the tree may take to disappear after taskkill returned, in milliseconds. */
const DEATH_WAIT_MS = 5000;

/**
 * Ends a process tree on Windows, which has no signals: request, then taskkill by force, then a look whether it worked.
 * Descendants are recorded before, since taskkill does not find those whose parent is gone.
 */
export async function killTreeOnWindows(
	pid: number,
	table: ProcessTable,
	runTaskkill: RunTaskkill,
	options: Pick<LadderOptions, "request" | "graceMs"> = {},
): Promise<LadderResult> {
	const recorded = descendantsOf(await table.list(), [pid]);
	if (options.request) {
		const request = options.request;
		const gone = new AbortController();
		const asked = Promise.resolve().then(() => request(gone.signal));
		await settledWithin(asked, options.graceMs ?? DEATH_WAIT_MS);
		gone.abort();
	}
	await runTaskkill(["/PID", String(pid), "/T", "/F"]);
	const startTimes = new Map(recorded.map((entry) => [entry.pid, entry.startTime]));
	let alive: number[] = [];
	const allDead = async () => {
		alive = (await table.list())
			.filter((entry) => entry.pid === pid || startTimes.get(entry.pid) === entry.startTime)
			.map((entry) => entry.pid);
		return alive.length === 0;
	};
	if (!(await allDead())) {
		for (const survivor of alive) await runTaskkill(["/PID", String(survivor), "/F"]);
		await polledWithin(allDead, DEATH_WAIT_MS, 250);
	}
	return { forced: true, leftovers: alive };
}

/** taskkill of this system. */
export const runTaskkill: RunTaskkill = (args) =>
	new Promise((resolve) => {
		const child = spawn("taskkill", args, { stdio: "ignore", windowsHide: true });
		child.once("error", () => resolve());
		child.once("close", () => resolve());
	});
