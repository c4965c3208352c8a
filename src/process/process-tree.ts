import { isSignallable } from "./process-identity.ts";
import type { ProcessEntry } from "./process-table-types.ts";

/**
 * All processes below the given ones, parents before children, without the roots themselves.
 * Pid 0 and 1 are no roots, and neither they nor this process are ever part of the result, nor is what is only
 * reached through them. A snapshot taken while processes end may show a cycle; it is walked once.
 */
export function descendantsOf(entries: readonly ProcessEntry[], rootPids: Iterable<number>): ProcessEntry[] {
	const children = Map.groupBy(entries, (entry) => entry.ppid);
	const roots = new Set(rootPids);
	const seen = new Set(roots);
	const found: ProcessEntry[] = [];
	const visit = (pid: number): void => {
		for (const child of children.get(pid) ?? []) {
			if (seen.has(child.pid) || !isSignallable(child.pid)) continue;
			seen.add(child.pid);
			found.push(child);
		}
	};
	for (const root of roots) if (root > 1) visit(root);
	// `found` grows while it is walked: breadth first, without recursion.
	for (const entry of found) visit(entry.pid);
	return found;
}
