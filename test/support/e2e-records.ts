import { existsSync, readdirSync, readFileSync } from "node:fs";
import { readdir, readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { expect } from "vitest";
import { createProcessTable } from "../../src/process/process-table.ts";
import type { JournalEntry } from "../../src/records/journal.ts";
import type { RunManifest } from "../../src/records/run-manifest.ts";
import { carriersOf } from "./e2e-processes.ts";

/** A run as its folder tells it. */
export interface StoredRun {
	readonly dir: string;
	readonly manifest: RunManifest;
	readonly journal: readonly JournalEntry[];
	readonly summary: string;
	/** Undefined when there is no answer. */
	readonly result: string | undefined;
}

/** In the order in which they were started. */
export async function runIdsIn(agentDir: string): Promise<string[]> {
	const runs = join(agentDir, "flightdeck", "runs");
	return existsSync(runs) ? (await readdir(runs)).sort() : [];
}

export async function storedRuns({ agentDir }: { readonly agentDir: string }): Promise<StoredRun[]> {
	const ids = await runIdsIn(agentDir);
	return Promise.all(ids.map((id) => readRun(join(agentDir, "flightdeck", "runs", id))));
}

export function runsFolder({ agentDir }: { readonly agentDir: string }): string {
	return join(agentDir, "flightdeck", "runs");
}

/** `run.json` of the only run as it is at this moment; undefined before there is one. Half of one is an error. */
export function manifestNow(scene: { readonly agentDir: string }): RunManifest | undefined {
	const runs = runsFolder(scene);
	const [id = ""] = existsSync(runs) ? readdirSync(runs) : [];
	const file = join(runs, id, "run.json");
	return existsSync(file) ? JSON.parse(readFileSync(file, "utf8")) : undefined;
}

export async function onlyRun(scene: { readonly agentDir: string }): Promise<StoredRun> {
	const [run, ...more] = await storedRuns(scene);
	if (run === undefined || more.length > 0) throw new Error(`There are ${more.length + (run ? 1 : 0)} runs, not one.`);
	return run;
}

async function readRun(dir: string): Promise<StoredRun> {
	const resultFile = join(dir, "result-1.md");
	const [manifest, journal, summary] = await Promise.all(
		["run.json", "events.jsonl", "summary.md"].map((name) => readFile(join(dir, name), "utf8")),
	);
	return {
		dir,
		manifest: JSON.parse(manifest ?? ""),
		journal: readJournal(journal ?? ""),
		summary: summary ?? "",
		result: existsSync(resultFile) ? await readFile(resultFile, "utf8") : undefined,
	};
}

function readJournal(text: string): JournalEntry[] {
	expect(text.endsWith("\n")).toBe(true);
	return text
		.slice(0, -1)
		.split("\n")
		.map((line) => JSON.parse(line));
}

export interface ExpectedEnd {
	readonly status: RunManifest["status"];
	readonly exitPath: string;
	/** How many attempts got a process; 0 when the run ended before that. */
	readonly started?: boolean;
}

/** Checks everything that must hold for the record of every run that has ended, and that none of its processes is left. */
export async function expectEnded(run: StoredRun, { status, exitPath, started = true }: ExpectedEnd): Promise<void> {
	const { manifest, journal, summary, dir } = run;
	expect(manifest).toMatchObject({ version: 1, runtime: "pi", status, exitPath, recordComplete: true });
	expect(manifest.completedAt).not.toBeNull();
	expect(journal[0]).toMatchObject({ type: "run-start", runId: manifest.runId, environment: null });
	expect(journal.at(-1)).toMatchObject({ type: "run-end", status, exitPath, warnings: manifest.warnings });
	expect(journal.filter(({ type }) => type === "run-start" || type === "run-end")).toHaveLength(2);
	expect(summary).toContain(`# ${manifest.agent.name}: ${status}\n`);
	expect(summary).toContain(manifest.runId);
	for (const text of [manifest.reason, ...manifest.warnings]) expect(summary).toContain(text);
	expect(manifest.attempts).toHaveLength(1);
	if (started) await expectIdentity(run);
	else expect(manifest.attempts[0]).toMatchObject({ number: 1, pid: null, exit: null });
	if (process.platform !== "win32") expect((await stat(dir)).mode & 0o777).toBe(0o700);
	expect(await carriersOf(manifest.runId)).toEqual([]);
}

async function expectIdentity({ manifest, journal }: StoredRun): Promise<void> {
	const [attempt] = manifest.attempts;
	const bootId = await createProcessTable().bootId();
	expect(attempt).toMatchObject({ number: 1, sessionId: manifest.runId, bootId, exit: { leftovers: [] } });
	expect(attempt?.pid).toBeGreaterThan(1);
	expect(attempt?.startTime).toMatch(/\S/);
	expect(journal).toContainEqual(expect.objectContaining({ type: "process-spawned", pid: attempt?.pid }));
	expect(manifest.owner).toMatchObject({ bootId, pid: expect.any(Number), startTime: expect.stringMatching(/\S/) });
	expect(attempt?.pid).not.toBe(manifest.owner.pid);
}

/** The totals of a run in the form of the model server's. */
export function usageOf({ usage }: RunManifest) {
	return { input: usage.input, output: usage.output, cacheRead: usage.cacheRead };
}
