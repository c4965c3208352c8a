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
 * @param recorded members seen before: those still alive count, and so does whoever they started since, even where the
 * parent is gone and only the group tells
 */
export async function findFamily(query: FamilyQuery, recorded: readonly ProcessEntry[] = []): Promise<ProcessEntry[]> {
	const { pid, marker, table } = query;
	const gone = query.gone();
	const [entries, carriers] = await Promise.all([table.list(), marker ? table.carriers(marker) : []]);
	const now = new Map(entries.map((entry) => [entry.pid, entry]));
	const known = recorded.filter((entry) => now.get(entry.pid)?.startTime === entry.startTime).map((entry) => entry.pid);
	const roots = [...carriers, ...known];
	const tree = descendantsOf(entries, gone ? roots : [pid, ...roots]);
	const members = new Set([...roots, ...tree.map((entry) => entry.pid)]);
	const groups = new Set([...tree, ...known.map((member) => now.get(member))].map((entry) => entry?.pgid));
	// A pid is not given out again while a group of that id has members: a stranger with it means that ours is empty.
	for (const leader of recorded) if (leader.pgid === leader.pid && !now.has(leader.pid)) groups.add(leader.pid);
	if (query.ownGroup && !(gone && now.has(pid))) groups.add(pid);
	groups.delete(now.get(process.pid)?.pgid);
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
