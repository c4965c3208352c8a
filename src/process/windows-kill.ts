import type { ChildProcess } from "node:child_process";
import { findFamily } from "./process-family.ts";
import { ask, DEFAULT_GRACE_MS, type LadderOptions, type LadderResult, type LadderTarget } from "./stop-ladder.ts";
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
	target: LadderTarget,
	runTaskkill: RunTaskkill,
	options: Pick<LadderOptions, "request" | "graceMs"> = {},
): Promise<LadderResult> {
	const { pid } = target;
	const recorded = await findFamily(target);
	await ask(target, options.request, options.graceMs ?? DEFAULT_GRACE_MS);
	let alive: number[] = [];
	const allDead = async () => {
		const family = await findFamily(target, recorded);
		// The table and not our child says whether it lives: its exit is told to us later.
		const itself = !target.gone() && (await target.table.find(pid)) ? [pid] : [];
		alive = [...itself, ...family.map((entry) => entry.pid)];
		return alive.length === 0;
	};
	// Once the child is gone its pid may be somebody else's: then only its recorded descendants are ended.
	if (target.gone() && (await allDead())) return { forced: false, leftovers: [] };
	target.onHardKill();
	if (!target.gone()) await runTaskkill(["/PID", String(pid), "/T", "/F"]);
	if (!(await allDead())) {
		for (const survivor of alive) await runTaskkill(["/PID", String(survivor), "/F"]);
		await polledWithin(allDead, DEATH_WAIT_MS, 250);
	}
	// What the table no longer shows is about to be told as an exit.
	if (!alive.includes(pid) && !(await settledWithin(target.exited, DEATH_WAIT_MS))) alive = [pid, ...alive];
	return { forced: true, leftovers: alive };
}

/** As much of `child_process.spawn` as is needed to run a program to its end. */
export type SpawnProgram = (
	command: string,
	args: readonly string[],
	options: { readonly stdio: "ignore"; readonly windowsHide: true },
) => Pick<ChildProcess, "once">;

/** taskkill, started by the given function. */
export function taskkillBy(spawnProgram: SpawnProgram): RunTaskkill {
	return (args) =>
		new Promise((resolve) => {
			const child = spawnProgram("taskkill", args, { stdio: "ignore", windowsHide: true });
			for (const end of ["error", "exit", "close"] as const) child.once(end, () => resolve());
		});
}
