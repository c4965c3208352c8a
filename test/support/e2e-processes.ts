import { vi } from "vitest";
import { createProcessTable } from "../../src/process/process-table.ts";

const VARIABLE = "PI_FLIGHTDECK_RUN";
const table = createProcessTable();

/** Pids of all living processes that carry the marker of a run: its child and everything below it, daemons included. */
export async function carriersOf(runId: string): Promise<number[]> {
	const [pids, entries] = await Promise.all([table.carriers({ name: VARIABLE, value: runId }), table.list()]);
	const living = new Set(entries.filter(({ zombie }) => !zombie).map(({ pid }) => pid));
	return pids.filter((pid) => living.has(pid));
}

/** Resolves as soon as a condition holds that no event tells of. */
export async function eventually<T>(ask: () => Promise<T | undefined> | T | undefined, timeout = 60_000): Promise<T> {
	return vi.waitFor(
		async () => {
			const value = await ask();
			if (value === undefined) throw new Error("The condition has not come true.");
			return value;
		},
		{ timeout, interval: 20 },
	);
}

/** How long it takes until nobody carries the marker of a run, in ms. */
export async function msUntilGone(runId: string): Promise<number> {
	const start = performance.now();
	await eventually(async () => ((await carriersOf(runId)).length === 0 ? true : undefined), 30_000);
	return performance.now() - start;
}

export function isAlive(pid: number): Promise<boolean> {
	return table.find(pid).then((entry) => entry !== undefined && !entry.zombie);
}

/** Ends what a failed test left: only processes that carry the marker of one of its runs. */
export async function killCarriers(runIds: readonly string[]): Promise<void> {
	for (const runId of runIds) for (const pid of await carriersOf(runId)) kill(pid);
}

function kill(pid: number): void {
	try {
		process.kill(pid, "SIGKILL");
	} catch (error) {
		// It ended by itself in between.
		if (!(error instanceof Error && "code" in error && error.code === "ESRCH")) throw error;
	}
}
