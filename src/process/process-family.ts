import type { ProcessEntry, ProcessMarker, ProcessTable } from "./process-table.ts";
import { descendantsOf } from "./process-tree.ts";

/** Whom a child's stop concerns. */
export interface FamilyQuery {
	readonly pid: number;
	/** Whether the child leads a process group of its own. */
	readonly ownGroup: boolean;
	readonly marker: ProcessMarker | undefined;
	/** Whether the child has exited and been reaped: its pid may belong to a stranger then. */
	readonly gone: () => boolean;
	readonly table: ProcessTable;
}

/**
 * Everything that belongs to a child now: its descendants by parent, the members of its group and of the groups its
 * descendants lead, and the carriers of its marker with their descendants. The child itself and zombies are left out;
 * so are we and our own group, whatever the table says.
 */
export async function findFamily(query: FamilyQuery): Promise<ProcessEntry[]> {
	const { pid, marker, table } = query;
	const gone = query.gone();
	const [entries, carriers] = await Promise.all([table.list(), marker ? table.carriers(marker) : []]);
	const ourGroup = entries.find((entry) => entry.pid === process.pid)?.pgid;
	const tree = descendantsOf(entries, gone ? carriers : [pid, ...carriers]);
	// A pid is not given out again while a group of that id has members: a stranger with it means ours is empty.
	const ownGroup = query.ownGroup && !(gone && entries.some((entry) => entry.pid === pid));
	const members = new Set([...carriers, ...tree.map((entry) => entry.pid)]);
	const groups = new Set(tree.map((entry) => entry.pgid));
	if (ownGroup) groups.add(pid);
	groups.delete(ourGroup);
	return entries.filter(
		(entry) =>
			entry.pid !== pid &&
			entry.pid !== process.pid &&
			entry.pid > 1 &&
			!entry.zombie &&
			(members.has(entry.pid) || (entry.pgid !== undefined && groups.has(entry.pgid))),
	);
}

/** Those of `recorded` that are still the same living processes. */
export async function stillAlive(recorded: readonly ProcessEntry[], table: ProcessTable): Promise<ProcessEntry[]> {
	if (recorded.length === 0) return [];
	const startTimes = new Map(recorded.map((entry) => [entry.pid, entry.startTime]));
	const entries = await table.list();
	return entries.filter((entry) => !entry.zombie && startTimes.get(entry.pid) === entry.startTime);
}

/** The union of two snapshots, one entry per process. */
export function mergeFamilies(first: readonly ProcessEntry[], second: readonly ProcessEntry[]): ProcessEntry[] {
	return [...new Map([...first, ...second].map((entry) => [`${entry.pid} ${entry.startTime}`, entry])).values()];
}
