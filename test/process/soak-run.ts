import { spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { readdirSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import {
	createProcessTable,
	type ManagedProcess,
	ManagedProcessFactory,
	OutputHandlerRegistry,
	type ProcessMarker,
	type ProcessOutcome,
	settledWithin,
} from "../../src/process/index.ts";

export interface SoakOptions {
	readonly children: number;
	/** How many at a time. */
	readonly width: number;
	/** The same seed gives the same children in the same order. */
	readonly seed: number;
	/** Milliseconds for each child to settle. */
	readonly deadlineMs: number;
}

/** What a run did and what it left; the lists are empty when all is well. */
export interface SoakReport {
	readonly children: number;
	readonly byKind: Record<string, number>;
	readonly lines: number;
	readonly seconds: number;
	/** One text for each child that did not do what it should have. */
	readonly faults: string[];
	/** Processes of the run that were still alive at its end and were not named as leftovers. */
	readonly descendants: number[];
	/** Leftovers that were named, and ended by this run. */
	readonly namedLeftovers: number;
	/** What there is more of than before: descriptors, timers, handles, listeners. */
	readonly more: string[];
	/** Growth of the heap in use after a collection, in MB. */
	readonly heapGrowthMb: number;
}

interface Kind {
	/** How often, in relation to the others. */
	readonly weight: number;
	/** A random child of the kind. */
	make(random: () => number): Child;
}

interface Child {
	readonly script: string;
	readonly args: readonly string[];
	/** Lines on both streams together; undefined where chance decides. */
	readonly lines: number | undefined;
	/** Whether to stop it when it has said its lines. */
	readonly stop?: boolean;
	/** What is wrong about this end, undefined if nothing. */
	check(outcome: ProcessOutcome): string | undefined;
}

const expectEnd =
	(code: number | null, signal: NodeJS.Signals | null, leftovers = 0, streams = "closed") =>
	(end: ProcessOutcome) =>
		end.code === code && end.signal === signal && end.leftovers.length === leftovers && end.streams === streams
			? undefined
			: `ended with ${JSON.stringify(end)}`;
const expectStopped = (end: ProcessOutcome) =>
	end.stopReason === "soak" && end.forcedExit && end.leftovers.length === 0 && end.streams === "closed"
		? undefined
		: `stopped with ${JSON.stringify(end)}`;
const whole = (random: () => number, limit: number) => Math.floor(random() * limit);

const KINDS: Record<string, Kind> = {
	"exit code": {
		weight: 4,
		make(random) {
			const code = whole(random, 256);
			return { script: "exit-code.sh", args: [String(code)], lines: 0, check: expectEnd(code, null) };
		},
	},
	signal: {
		weight: 2,
		make(random) {
			const name = ["KILL", "TERM", "INT", "ABRT", "HUP"][whole(random, 5)] ?? "KILL";
			return { script: "kill-self.sh", args: [name], lines: 0, check: expectEnd(null, `SIG${name}` as NodeJS.Signals) };
		},
	},
	"torn last line": {
		weight: 4,
		make: () => ({ script: "torn-line.sh", args: [], lines: 4, check: expectEnd(0, null) }),
	},
	flood: {
		weight: 3,
		make(random) {
			const lines = 1 + whole(random, 50_000);
			return { script: "flood.sh", args: [String(lines)], lines, check: expectEnd(0, null) };
		},
	},
	"failure with stderr": {
		weight: 2,
		make: () => ({ script: "fail-with-stderr.sh", args: ["9"], lines: 2, check: expectEnd(9, null) }),
	},
	"held pipe": {
		weight: 2,
		make: () => ({ script: "hold-stdout.sh", args: ["1000"], lines: 1, check: expectEnd(0, null, 1, "held") }),
	},
	"left group member": {
		weight: 1,
		make: () => ({ script: "leave-group-member.sh", args: [], lines: 1, check: expectEnd(0, null, 1) }),
	},
	"left daemon": {
		weight: 1,
		make: () => ({ script: "setsid-daemon.sh", args: [], lines: 1, check: expectEnd(0, null, 1) }),
	},
	"silent hang": {
		weight: 3,
		make: () => ({ script: "wait-forever.sh", args: [], lines: 1, stop: true, check: expectStopped }),
	},
	"hang that ignores TERM": {
		weight: 1,
		make: () => ({ script: "ignore-term.sh", args: [], lines: 1, stop: true, check: expectStopped }),
	},
	"hang with a daemon": {
		weight: 1,
		make: () => ({ script: "setsid-daemon.sh", args: ["stay"], lines: 1, stop: true, check: expectStopped }),
	},
	"hang with a group": {
		weight: 1,
		make: () => ({ script: "same-group-child.sh", args: [], lines: 1, stop: true, check: expectStopped }),
	},
};

/** Runs many short children of random kinds, and looks whether each ended as it should and nothing of them is left. */
export async function runSoak(options: SoakOptions): Promise<SoakReport> {
	const random = seededRandom(options.seed);
	const marker: ProcessMarker = { name: "FLIGHTDECK_SOAK", value: randomUUID() };
	const table = createProcessTable();
	// What node and the shell make once is made before the first count.
	for (const name of ["torn last line", "held pipe", "silent hang"])
		await runChild(pick(name, random), marker, options);
	await endAll(marker);
	const before = await countEverything();
	const heapBefore = collectedHeap();

	const start = performance.now();
	const byKind: Record<string, number> = {};
	const faults: string[] = [];
	const named = new Set<number>();
	let started = 0;
	let lines = 0;
	const worker = async (): Promise<void> => {
		while (started < options.children) {
			const number = ++started;
			const kind = pickKind(random);
			byKind[kind] = (byKind[kind] ?? 0) + 1;
			const result = await runChild(pick(kind, random), marker, options);
			lines += result.lines;
			for (const pid of result.leftovers) named.add(pid);
			if (result.fault) faults.push(`child ${number}, ${kind}: ${result.fault}`);
		}
	};
	await Promise.all(Array.from({ length: options.width }, worker));
	const seconds = (performance.now() - start) / 1000;

	const carriers = await livingCarriers(marker);
	const descendants = carriers.filter((pid) => !named.has(pid));
	await endAll(marker);
	return {
		children: started,
		byKind,
		lines,
		seconds,
		faults,
		descendants,
		namedLeftovers: named.size,
		more: moreThan(before, await countEverything()),
		heapGrowthMb: (collectedHeap() - heapBefore) / 1024 / 1024,
	};

	async function livingCarriers(of: ProcessMarker): Promise<number[]> {
		const entries = await table.list();
		const alive = new Set(entries.filter(({ zombie }) => !zombie).map(({ pid }) => pid));
		return (await table.carriers(of)).filter((pid) => alive.has(pid));
	}

	/** Ends what the run left, found by the marker that all of it carries. */
	async function endAll(of: ProcessMarker): Promise<void> {
		for (let pids = await livingCarriers(of); pids.length > 0; pids = await livingCarriers(of))
			for (const pid of pids)
				try {
					process.kill(pid, "SIGKILL");
				} catch {
					// It ended by itself since the look.
				}
	}
}

/** Each child carries two markers: its own, by which its family is told from the others', and that of the run. */
async function runChild(child: Child, runMarker: ProcessMarker, options: SoakOptions) {
	const envMarker: ProcessMarker = { name: "FLIGHTDECK_SOAK_CHILD", value: randomUUID() };
	const script = fileURLToPath(new URL(`./children/${child.script}`, import.meta.url));
	const raw = spawn("/bin/sh", [script, ...child.args], {
		detached: true,
		stdio: ["ignore", "pipe", "pipe"],
		env: { ...process.env, [runMarker.name]: runMarker.value, [envMarker.name]: envMarker.value },
	});
	const registry = new OutputHandlerRegistry();
	const managed: ManagedProcess = new ManagedProcessFactory(registry).create(raw, {
		label: "soak",
		envMarker,
		ladder: { graceMs: 1000 },
		// A busy machine may take its time to deliver what a child wrote: only a holder is to be given up.
		drain: { idleMs: 1000, capMs: 20_000 },
	});
	let lines = 0;
	managed.on("line", () => {
		lines++;
		if (child.stop && lines === child.lines) void managed.stop("soak");
	});
	if (!(await settledWithin(managed.settled, options.deadlineMs))) {
		if (raw.pid !== undefined) process.kill(-raw.pid, "SIGKILL");
		return { lines, leftovers: [], fault: `not settled within ${options.deadlineMs} ms` };
	}
	const outcome = await managed.settled;
	const lost = child.lines !== undefined && child.lines !== lines ? `${lines} of ${child.lines} lines` : undefined;
	return { lines, leftovers: outcome.leftovers, fault: child.check(outcome) ?? lost };
}

function pickKind(random: () => number): string {
	const total = Object.values(KINDS).reduce((sum, { weight }) => sum + weight, 0);
	let at = random() * total;
	for (const [name, { weight }] of Object.entries(KINDS)) {
		at -= weight;
		if (at < 0) return name;
	}
	return "exit code";
}

function pick(kind: string, random: () => number): Child {
	const found = KINDS[kind];
	if (!found) throw new Error(`no kind ${kind}`);
	return found.make(random);
}

/** What could leak, once everything that is closing has closed. */
async function countEverything(): Promise<Record<string, number>> {
	for (let turn = 0; turn < 5; turn++) await new Promise((resolve) => setImmediate(resolve));
	const counts: Record<string, number> = { descriptors: readdirSync("/proc/self/fd").length };
	for (const name of process.getActiveResourcesInfo()) counts[name] = (counts[name] ?? 0) + 1;
	for (const name of process.eventNames()) counts[`listeners of ${String(name)}`] = process.listenerCount(name);
	return counts;
}

function moreThan(before: Record<string, number>, after: Record<string, number>): string[] {
	return Object.entries(after)
		.filter(([name, count]) => count > (before[name] ?? 0))
		.map(([name, count]) => `${name}: ${before[name] ?? 0} before, ${count} after`);
}

/** The heap in use after a collection, in bytes. */
function collectedHeap(): number {
	setFlagsFromString("--expose-gc");
	const collect: unknown = runInNewContext("gc");
	if (typeof collect === "function") collect();
	return process.memoryUsage().heapUsed;
}

/** Mulberry32: small, and the same everywhere. */
function seededRandom(seed: number): () => number {
	let state = seed;
	return () => {
		state = (state + 0x6d2b79f5) | 0;
		let t = Math.imul(state ^ (state >>> 15), 1 | state);
		t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
		return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296;
	};
}
