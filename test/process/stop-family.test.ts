import { describe, expect, it } from "vitest";
import { createProcessTable, type ProcessEntry, type ProcessTable } from "../../src/process/index.ts";
import { endAfterTest, isAlive, isZombie, newMarker, type StartedChild, startChild, until } from "./started-child.ts";

/** Waits until a script said so many pids with this word. */
async function saidPids({ lines }: StartedChild, word: string, count: number): Promise<number[]> {
	const pids = () => lines.filter((line) => line.startsWith(`${word} `)).map((line) => Number(line.slice(word.length)));
	await until(`${count} times ${word}`, () => pids().length === count);
	return pids().map(endAfterTest);
}

/** The real table, with what a test wants to see in it instead. */
function tableWith(change: (entries: readonly ProcessEntry[]) => readonly ProcessEntry[]): ProcessTable {
	const real = createProcessTable();
	return {
		list: async () => change(await real.list()),
		carriers: (marker) => real.carriers(marker),
		find: (pid) => real.find(pid),
		bootId: () => real.bootId(),
		lastError: undefined,
	};
}

describe("stop() ends the family", () => {
	it.each(["same-group-child.sh", "own-group-child.mjs"])("A1, A2: %s", async (script) => {
		const { managed, saidPid, pid } = startChild(script, { ladder: { graceMs: 10_000 } });
		const member = await saidPid("member");
		expect(await managed.stop("user")).toMatchObject({
			stopReason: "user",
			forcedExit: true,
			streams: "closed",
			leftovers: [],
		});
		expect([isAlive(pid), isAlive(member)]).toEqual([false, false]);
	});

	it("A3: a daemon in a session of its own, parent gone, is found by the marker", async () => {
		const envMarker = newMarker();
		const { managed, saidPid } = startChild("setsid-daemon.sh", { args: ["stay"], envMarker });
		const daemon = await saidPid("member");
		expect(await managed.stop("user")).toMatchObject({ leftovers: [] });
		expect(isAlive(daemon)).toBe(false);
	});

	it("A1: a launcher that exits on TERM while what it started ignores it, in its group and in another", async () => {
		const started = startChild("leader-of-stubborn.mjs", { ladder: { graceMs: 300 } });
		const members = await saidPids(started, "member", 2);
		const outcome = await started.managed.stop("user");
		expect(outcome).toMatchObject({ code: 143, forcedExit: true, streams: "closed", leftovers: [] });
		expect(members.map(isAlive)).toEqual([false, false]);
		expect(started.lifecycle.map(({ type }) => type)).toContain("hard_kill");
		// Nobody was killed before the child was gone and everybody had been asked.
		expect(started.managed.timestamps.killed).toBeGreaterThan(started.managed.timestamps.exited ?? Number.NaN);
	});

	it.each(["exit", "stay"])("A2: a member in a group of its own that forks when it gets TERM, to %s", async (then) => {
		const started = startChild("fork-on-term.mjs", { args: [then], ladder: { graceMs: 500 } });
		const members = await saidPids(started, "member", 1);
		const outcome = await started.managed.stop("user");
		const forked = await saidPids(started, "forked", 1);
		expect([...members, ...forked].map(isAlive)).toEqual([false, false]);
		expect(outcome).toMatchObject({ code: 143, leftovers: [] });
	});

	it("zombies are dead: a child that never collects its own is no reason to wait or to report", async () => {
		const { managed, said, lifecycle } = startChild("zombie-parent.sh", { ladder: { graceMs: 60_000 } });
		const zombie = Number(await said("zombie"));
		await until("the zombie", () => isZombie(zombie));
		expect(await managed.stop("user")).toMatchObject({ signal: "SIGTERM", leftovers: [] });
		expect(lifecycle.map(({ type }) => type)).not.toContain("hard_kill");
	});

	it("a member shown as a zombie by the table is not signalled", async () => {
		let shown = 0;
		const table = tableWith((entries) =>
			entries.map((entry) => (entry.pid === shown ? { ...entry, zombie: true } : entry)),
		);
		const { managed, saidPid } = startChild("own-group-child.mjs", { factory: { table } });
		shown = await saidPid("member");
		expect(await managed.stop("user")).toMatchObject({ leftovers: [] });
		expect(isAlive(shown)).toBe(true);
	});

	it("A15, invariant 7: a pid that belongs to another process meanwhile is not signalled", async () => {
		let member = 0;
		let exited = false;
		// After the exit of the child the pid of its member has a new start time: the system gave it to somebody else.
		const table = tableWith((entries) =>
			entries.map((entry) => (exited && entry.pid === member ? { ...entry, startTime: "later", ppid: 1 } : entry)),
		);
		const { managed, saidPid, lifecycle } = startChild("own-group-child.mjs", { factory: { table } });
		managed.on("exit", () => {
			exited = true;
		});
		member = await saidPid("member");
		expect(await managed.stop("user")).toMatchObject({ signal: "SIGTERM", leftovers: [] });
		expect(isAlive(member)).toBe(true);
		expect(lifecycle.map(({ type }) => type)).not.toContain("hard_kill");
	});

	it("what survives even KILL is named", async () => {
		let member = 0;
		// A process that cannot be killed, as one that waits for a dead disk.
		const undead = (): ProcessEntry => ({ pid: member, ppid: 1, pgid: member, startTime: "1", zombie: false });
		const table = tableWith((entries) => [...entries.filter(({ pid }) => pid !== member), undead()]);
		const { managed, saidPid } = startChild("same-group-child.sh", { factory: { table }, ladder: { graceMs: 100 } });
		member = await saidPid("member");
		const marked: ProcessTable = { ...table, carriers: async () => [member] };
		expect((await managed.stop("without a trace of it")).leftovers).toEqual([]);

		const second = startChild("same-group-child.sh", {
			factory: { table: marked },
			envMarker: newMarker(),
			ladder: { graceMs: 100 },
		});
		member = await second.saidPid("member");
		expect((await second.managed.stop("user")).leftovers).toEqual([member]);
	});
});

describe("after a natural end", () => {
	it("members of the child's group are named and left alone", async () => {
		const { managed, saidPid } = startChild("leave-group-member.sh");
		const member = await saidPid("member");
		expect(await managed.settled).toMatchObject({ code: 0, forcedExit: false, streams: "closed", leftovers: [member] });
		expect(isAlive(member)).toBe(true);
	});

	it("A3: carriers of its marker are named and left alone; without a marker nobody knows them", async () => {
		const { managed, saidPid } = startChild("setsid-daemon.sh", { envMarker: newMarker() });
		const daemon = await saidPid("member");
		expect(await managed.settled).toMatchObject({ code: 0, forcedExit: false, leftovers: [daemon] });
		expect(isAlive(daemon)).toBe(true);

		const unmarked = startChild("setsid-daemon.sh");
		const other = await unmarked.saidPid("member");
		expect((await unmarked.managed.settled).leftovers).toEqual([]);
		expect(isAlive(other)).toBe(true);
	});

	it("who is just ending when the child settles is no leftover", async () => {
		let looks = 0;
		const ending: ProcessEntry = { pid: 900_000_001, ppid: 1, pgid: 900_000_001, startTime: "1", zombie: false };
		const real = tableWith((entries) => (++looks === 1 ? [...entries, ending] : entries));
		const table: ProcessTable = { ...real, carriers: async () => [ending.pid] };
		const { managed } = startChild("exit-code.sh", { args: ["0"], envMarker: newMarker(), factory: { table } });
		expect((await managed.settled).leftovers).toEqual([]);
		expect(looks).toBe(2);
	});

	it("a marker is no prefix: another run's children are not ours", async () => {
		const marker = newMarker();
		const other = startChild("wait-forever.sh", { envMarker: { ...marker, value: `${marker.value}0` } });
		await other.said("ready");
		const { managed } = startChild("exit-code.sh", { args: ["0"], envMarker: marker });
		expect((await managed.settled).leftovers).toEqual([]);
		expect(isAlive(other.pid)).toBe(true);
	});
});

describe("a child in our own group", () => {
	it.each(["stop", "kill"])("%s never signals the group: the program that did it lives on", async (how) => {
		// In a program and a group of its own, since a fault would end this test.
		const { managed, lines } = startChild("end-undetached-child.mjs", { args: [how] });
		expect(await managed.settled).toMatchObject({ code: 0, signal: null, stderrTail: "" });
		expect(JSON.parse(lines[0] ?? "")).toMatchObject({
			siblingAlive: true,
			descendantAlive: how === "kill",
			outcome: { signal: "SIGTERM", leftovers: [] },
		});
	});
});
