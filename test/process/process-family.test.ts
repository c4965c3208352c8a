import { describe, expect, it } from "vitest";
import { findFamily, stillAlive } from "../../src/process/process-family.ts";
import type { ProcessEntry, ProcessTable } from "../../src/process/process-table.ts";

const US = process.pid;
const OUR_GROUP = 900_000_099;
const CHILD = 900_000_010;
const MARKER = { name: "M", value: "1" };

function entry(pid: number, ppid: number, pgid: number | undefined, more: Partial<ProcessEntry> = {}): ProcessEntry {
	return { pid, ppid, pgid, startTime: "1", zombie: false, ...more };
}

const us = entry(US, 1, OUR_GROUP);
const child = entry(CHILD, US, CHILD);

/** The pids found, with what a test wants to say of table and child. */
async function family(
	entries: readonly ProcessEntry[],
	{ ownGroup = true, gone = false, carriers = [] as number[], recorded = [] as ProcessEntry[] } = {},
): Promise<number[]> {
	const table: ProcessTable = {
		list: async () => entries,
		carriers: async () => carriers,
		find: async (pid) => entries.find((each) => each.pid === pid),
		bootId: async () => "boot",
		lastError: undefined,
	};
	const query = { pid: CHILD, ownGroup, marker: carriers.length > 0 ? MARKER : undefined, gone: () => gone, table };
	return (await findFamily(query, recorded)).map(({ pid }) => pid).sort((a, b) => a - b);
}

describe("findFamily", () => {
	it("A2: descendants by parent, in whatever group", async () => {
		const deep = [entry(CHILD + 1, CHILD, CHILD + 1), entry(CHILD + 2, CHILD + 1, CHILD + 1), entry(77, 1, 77)];
		expect(await family([us, child, ...deep])).toEqual([CHILD + 1, CHILD + 2]);
	});

	it("A2: orphans in the child's group and in a group that a descendant leads", async () => {
		const orphans = [entry(CHILD + 1, 1, CHILD), entry(CHILD + 2, CHILD, CHILD + 2), entry(CHILD + 3, 1, CHILD + 2)];
		expect(await family([us, child, ...orphans])).toEqual([CHILD + 1, CHILD + 2, CHILD + 3]);
	});

	it("A3: carriers of the marker, and their descendants", async () => {
		const daemon = [entry(CHILD + 5, 1, CHILD + 5), entry(CHILD + 6, CHILD + 5, CHILD + 5)];
		expect(await family([us, child, ...daemon], { carriers: [CHILD, CHILD + 5] })).toEqual([CHILD + 5, CHILD + 6]);
		expect(await family([us, child, ...daemon])).toEqual([]);
	});

	it("zombies are dead", async () => {
		expect(await family([us, child, entry(CHILD + 1, CHILD, CHILD, { zombie: true })])).toEqual([]);
	});

	it("never we, never our group, never init, whatever the table says", async () => {
		const neighbours = [entry(77, 1, OUR_GROUP), entry(78, 77, OUR_GROUP)];
		const below = entry(US, CHILD, OUR_GROUP);
		const shared = entry(CHILD, US, OUR_GROUP);
		const member = entry(CHILD + 1, CHILD, OUR_GROUP);
		expect(await family([us, shared, member, ...neighbours], { ownGroup: false })).toEqual([CHILD + 1]);
		expect(await family([below, child, entry(1, CHILD, CHILD), entry(0, CHILD, CHILD), ...neighbours])).toEqual([]);
		expect(await family([us, child, ...neighbours], { carriers: [US, 1, CHILD] })).toEqual([]);
	});

	it("A15: a gone child's pid is no root, and its group counts only while nobody else has the pid", async () => {
		const member = entry(CHILD + 1, 1, CHILD);
		const stranger = entry(CHILD, 1, CHILD, { startTime: "2" });
		const strangers = entry(CHILD + 2, CHILD, CHILD);
		expect(await family([us, member], { gone: true })).toEqual([CHILD + 1]);
		expect(await family([us, stranger, strangers], { gone: true })).toEqual([]);
	});

	it("A2: what recorded members started since, by parent and, where they have ended, by the group they led", async () => {
		const recorded = [entry(CHILD + 1, CHILD, CHILD + 1), entry(CHILD + 2, CHILD, CHILD + 2)];
		const now = [entry(CHILD + 1, 1, CHILD + 1), entry(CHILD + 3, CHILD + 1, 55), entry(CHILD + 4, 1, CHILD + 2)];
		expect(await family([us, ...now], { gone: true, recorded })).toEqual([CHILD + 1, CHILD + 3, CHILD + 4]);
		expect(await family([us, ...now], { gone: true })).toEqual([]);
	});

	it("A15: a recorded pid that is somebody else's now brings neither itself nor what it started nor its group", async () => {
		const recorded = [entry(CHILD + 1, CHILD, CHILD + 1)];
		const now = [
			entry(CHILD + 1, 1, CHILD + 1, { startTime: "2" }),
			entry(CHILD + 2, CHILD + 1, 55),
			entry(CHILD + 3, 1, CHILD + 1),
		];
		expect(await family([us, ...now], { gone: true, recorded })).toEqual([]);
	});

	it("works without groups, as on Windows", async () => {
		const entries = [
			entry(US, 4, undefined),
			entry(CHILD, US, undefined),
			entry(CHILD + 1, CHILD, undefined),
			entry(77, 4, undefined),
		];
		expect(await family(entries, { ownGroup: false })).toEqual([CHILD + 1]);
	});
});

describe("stillAlive", () => {
	it("takes pid and start time together, and no zombies", async () => {
		const recorded = [entry(11, 1, 11), entry(12, 1, 12), entry(13, 1, 13), entry(14, 1, 14)];
		const now = [
			entry(11, 1, 11),
			entry(12, 1, 12, { startTime: "2" }),
			entry(13, 1, 13, { zombie: true }),
			entry(15, 1, 15),
		];
		const table = { list: async () => now };
		expect((await stillAlive(recorded, { ...table, ...unused })).map(({ pid }) => pid)).toEqual([11]);
	});
});

const unused = {
	carriers: async () => [],
	find: async () => undefined,
	bootId: async () => "",
	lastError: undefined,
};
