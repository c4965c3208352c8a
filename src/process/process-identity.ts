import type { ProcessTable } from "./process-table-types.ts";

/** Names one process of one host for good: a pid alone is used again. */
export interface ProcessIdentity {
	readonly pid: number;
	/** `ProcessEntry.startTime`. */
	readonly startTime: string;
	/** `ProcessTable.bootId()`; start times count from boot on some systems. */
	readonly bootId: string;
}

/** The identity of a living process, undefined when there is none, or when the boot id is unknown. */
export async function identify(pid: number, table: ProcessTable): Promise<ProcessIdentity | undefined> {
	const [entry, bootId] = await Promise.all([table.find(pid), table.bootId()]);
	if (entry === undefined || entry.zombie || bootId === "") return undefined;
	return { pid, startTime: entry.startTime, bootId };
}

/** Whether that very process still lives. A zombie does not. In doubt the answer is no. */
export async function isSameProcess(identity: ProcessIdentity, table: ProcessTable): Promise<boolean> {
	const now = await identify(identity.pid, table);
	return now !== undefined && now.startTime === identity.startTime && now.bootId === identity.bootId;
}

/**
 * Sends a signal to that very process, never to another one that got its pid, and never to this process.
 * @returns whether it was sent; false also when the system refuses it
 */
export async function signalIfSame(
	identity: ProcessIdentity,
	signal: NodeJS.Signals,
	table: ProcessTable,
): Promise<boolean> {
	if (!isSignallable(identity.pid) || !(await isSameProcess(identity, table))) return false;
	try {
		return process.kill(identity.pid, signal);
	} catch {
		// It ended since the look (ESRCH), or belongs to someone else (EPERM): not sent, which is the answer.
		return false;
	}
}

/** Whether a pid can be that of a process which may be signalled: not this one, not init, not "my group" or "everyone". */
export function isSignallable(pid: number): boolean {
	return Number.isSafeInteger(pid) && pid > 1 && pid !== process.pid;
}
