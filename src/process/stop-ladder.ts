import { type FamilyQuery, findFamily, stillAlive } from "./process-family.ts";
import { signalGroup, signalProcess } from "./process-signals.ts";
import type { ProcessEntry } from "./process-table.ts";
import { polledWithin, settledWithin } from "./wait.ts";

/** How a child is ended, from asking to killing. */
export interface LadderOptions {
	/** The runtime's own way to ask for an end. It may take until `graceMs`; the signal is aborted when the child is gone. */
	readonly request?: ((signal: AbortSignal) => unknown) | undefined;
	/** How many TERM signals are sent. Default 1; a CLI that exits at once on the second gets 2. */
	readonly terms?: number | undefined;
	/** Milliseconds between two TERM signals. Default 2000. */
	readonly termGapMs?: number | undefined;
	/** Milliseconds from the last TERM to KILL. Default 5000. */
	readonly graceMs?: number | undefined;
}

export interface LadderTarget extends FamilyQuery {
	/** Resolves when the child itself has exited. */
	readonly exited: Promise<void>;
	/** Told before the first KILL. */
	onHardKill(): void;
}

export interface LadderResult {
	/** A signal was sent to the child or one of its family. */
	readonly forced: boolean;
	/** Pids that survived even KILL, the child's own first. */
	readonly leftovers: readonly number[];
}

const DEFAULT_TERM_GAP_MS = 2000;
export const DEFAULT_GRACE_MS = 5000;
/** How long a killed process may take to disappear, in milliseconds: the system tears down its memory first. */
const DEATH_WAIT_MS = 2000;

/**
 * Ends a child and its family on POSIX: snapshot, request, TERM to the group, a grace, a second snapshot, KILL to what
 * is left of both. A process is signalled only while pid and start time are those recorded.
 */
export async function runStopLadder(target: LadderTarget, options: LadderOptions): Promise<LadderResult> {
	const graceMs = options.graceMs ?? DEFAULT_GRACE_MS;
	const first = await findFamily(target);
	await ask(target, options.request, graceMs);
	const termed = await term(target, options, graceMs);
	const survivorsTermed = await termSurvivors(target, first, graceMs);
	const { killed, leftovers } = await kill(target, first);
	return { forced: termed || survivorsTermed || killed, leftovers };
}

/** Asks by the runtime's own request, if there is one, and waits until it is done, the child is gone, or the time is up. */
export async function ask(target: LadderTarget, request: LadderOptions["request"], graceMs: number): Promise<void> {
	if (!request) return;
	const gone = new AbortController();
	const exited = target.exited.then(() => gone.abort());
	// A request that fails is no reason to stop stopping: the next step does not depend on it.
	const asked = Promise.resolve()
		.then(() => request(gone.signal))
		.catch(() => undefined);
	await settledWithin(Promise.race([exited, asked]), graceMs);
}

/**
 * Ends what a child left behind that is gone already: TERM, a grace, KILL. @returns the pids that survived
 * @param graceMs milliseconds from TERM to KILL
 */
export async function endFamily(target: LadderTarget, graceMs: number): Promise<readonly number[]> {
	const family = await findFamily(target);
	if (family.length === 0) return [];
	await termSurvivors(target, family, graceMs);
	return (await kill(target, family)).leftovers;
}

/** TERM to the child, as often as wanted. @returns whether it was needed */
async function term(target: LadderTarget, options: LadderOptions, graceMs: number): Promise<boolean> {
	if (target.gone()) return false;
	const terms = options.terms ?? 1;
	for (let sent = 1; sent <= terms; sent++) {
		signalChild(target, "SIGTERM");
		const wait = sent < terms ? (options.termGapMs ?? DEFAULT_TERM_GAP_MS) : graceMs;
		if (await settledWithin(target.exited, wait)) break;
	}
	return true;
}

/** Members outside the child's own group never got its TERM: once the child is gone they get theirs, and the same grace. */
async function termSurvivors(target: LadderTarget, first: readonly ProcessEntry[], graceMs: number): Promise<boolean> {
	if (!target.gone()) return false;
	const survivors = await findFamily(target, first);
	if (survivors.length === 0) return false;
	for (const { pid } of survivors) signalProcess(pid, "SIGTERM");
	await polledWithin(async () => (await stillAlive(survivors, target.table)).length === 0, graceMs);
	return true;
}

async function kill(
	target: LadderTarget,
	first: readonly ProcessEntry[],
): Promise<{ killed: boolean; leftovers: number[] }> {
	let family = await findFamily(target, first);
	if (target.gone() && family.length === 0) return { killed: false, leftovers: [] };
	target.onHardKill();
	const all = new Map<number, ProcessEntry>();
	for (const entry of [...first, ...family]) all.set(entry.pid, entry);
	let emptyLooks = 0;
	const allDead = async () => {
		// Looked up anew each time: a member may have forked between the snapshot and its KILL. One look is no snapshot of a
		// moment: what forks while the table is read can be missed, so it takes two that find nobody.
		family = await findFamily(target, [...all.values()]);
		for (const entry of family) all.set(entry.pid, entry);
		for (const { pid } of family) signalProcess(pid, "SIGKILL");
		emptyLooks = family.length === 0 ? emptyLooks + 1 : 0;
		return emptyLooks >= 2 && target.gone();
	};
	if (!target.gone()) signalChild(target, "SIGKILL");
	for (const { pid } of family) signalProcess(pid, "SIGKILL");
	await polledWithin(allDead, DEATH_WAIT_MS);
	const leftovers = family.map((entry) => entry.pid);
	return { killed: true, leftovers: target.gone() ? leftovers : [target.pid, ...leftovers] };
}

function signalChild({ pid, ownGroup }: LadderTarget, signal: NodeJS.Signals): void {
	if (ownGroup) signalGroup(pid, signal);
	else signalProcess(pid, signal);
}
