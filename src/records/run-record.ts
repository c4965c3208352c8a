import { randomBytes } from "node:crypto";
import { existsSync, renameSync, writeFileSync } from "node:fs";
import { chmod, mkdtemp, open, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, relative, resolve } from "node:path";
import type { AgentEvent, AgentEventSource, ObservedEvent } from "../events/agent-event.ts";
import type { AgentRecord } from "../observers/agent-record.ts";
import { type LifecycleEvent, makeDirectory } from "../process/index.ts";
import { writeAtomically } from "./atomic-write.ts";
import { Journal, type JournalEntry } from "./journal.ts";
import { createRedactor, type Redact, redactJson } from "./redaction.ts";
import { type RunPaths, runPaths } from "./run-directory.ts";
import type { RunAttempt, RunManifest, RunMeta, RunOwner } from "./run-manifest.ts";
import { formatSummary } from "./summary.ts";

/** What is known of a run before it starts. */
export interface RunDescription {
	readonly owner: RunOwner;
	readonly agent: RunManifest["agent"];
	readonly runtime: RunManifest["runtime"];
	readonly task: string;
	readonly cwd: string;
	readonly meta: RunMeta;
}

/** How a run ended. */
export interface RunEnd {
	readonly exitPath: string;
	readonly reason: string;
	readonly warnings: readonly string[];
	readonly answer: string | null;
	readonly attempt: RunAttempt;
}

/** Agent events that are kept as they came. Deltas, tool updates and repetitions of messages are not. */
const JOURNALED = [
	"session",
	"agent_start",
	"agent_settled",
	"turn_start",
	"message_end",
	"tool_execution_start",
	"tool_execution_end",
	"queue_update",
	"entry_appended",
	"session_info_changed",
	"thinking_level_changed",
	"compaction_start",
	"compaction_end",
	"auto_retry_start",
	"auto_retry_end",
	"summarization_retry_scheduled",
	"summarization_retry_attempt_start",
	"summarization_retry_finished",
	"extension_error",
] as const satisfies readonly AgentEvent["type"][];
/** Of these only the fact is kept: their messages have been journaled one by one. */
const REPETITIONS = ["turn_end", "agent_end"] as const satisfies readonly AgentEvent["type"][];

/**
 * A run on disk, written while it happens. A disk that fails costs the record and never the run: `problem` says so, and
 * the manifest has `recordComplete: false` wherever it could still be written.
 */
export class RunRecord {
	readonly paths: RunPaths;
	readonly #record: AgentRecord;
	readonly #description: RunDescription;
	readonly #redact: Redact;
	readonly #journal: Journal;
	#problem: string | undefined;

	private constructor(paths: RunPaths, record: AgentRecord, description: RunDescription, redact: Redact) {
		this.paths = paths;
		this.#record = record;
		this.#description = description;
		this.#redact = redact;
		this.#journal = new Journal(paths.journal, redact);
	}

	/** Makes the folder and writes manifest and `run-start`, before anything is started. Never rejects. */
	static async open(
		where: { readonly flightdeckDir: string; readonly env: NodeJS.ProcessEnv },
		record: AgentRecord,
		description: RunDescription,
	): Promise<RunRecord> {
		const paths = runPaths(where.flightdeckDir, record.runId);
		const run = new RunRecord(paths, record, description, createRedactor(where.env));
		await run.#guarded(async () => {
			makeDirectory(paths.root);
			await run.#writeManifest();
		});
		const { task: _task, ...identity } = description;
		run.#journal.append({ type: "run-start", runId: record.runId, ...identity, environment: null });
		return run;
	}

	/**
	 * Makes the folder that the child works with: its session, and its system prompt if it has one. In the record; where the
	 * disk refuses that, in a new folder for temporary files, since a record that fails must not cost the run.
	 * @throws the system's error when there is no room there either
	 */
	async makeWorkFolder(systemPrompt: string): Promise<WorkFolder> {
		try {
			return await fillWorkFolder(this.paths.root, systemPrompt);
		} catch (error) {
			this.#problem ??= messageOf(error);
			const folder = await mkdtemp(join(tmpdir(), "pi-flightdeck-run-"));
			this.#problem += `; the child's session is in ${folder}`;
			return fillWorkFolder(folder, systemPrompt);
		}
	}

	/** Whether the folder of the record is there at all. */
	get exists(): boolean {
		return existsSync(this.paths.manifest);
	}

	/** Why the record is incomplete; undefined while it is whole. */
	get problem(): string | undefined {
		return this.#problem ?? this.#journal.failure;
	}

	/** Journals what a child says. @returns the unsubscribe function */
	observe(source: AgentEventSource): () => void {
		const repetitions: readonly string[] = REPETITIONS;
		const kept: readonly string[] = JOURNALED;
		const observe = (event: ObservedEvent) => {
			if (kept.includes(event.type)) this.#journal.appendEvent(event);
			else if (repetitions.includes(event.type)) this.#journal.append({ type: event.type });
		};
		return source.subscribe(observe, { types: [...JOURNALED, ...REPETITIONS] });
	}

	noteLifecycle(event: LifecycleEvent): void {
		// The journal stamps its lines itself.
		const { ts: _ts, type, ...rest } = event;
		this.#journal.append({ type: `process-${type}`, ...rest });
	}

	noteStopRequest(reason: string): void {
		this.#journal.append({ type: "stop-request", reason });
	}

	/** Writes how things stand into the manifest: after a change of status or attempt. Never rejects. */
	async update(attempt: RunAttempt): Promise<void> {
		await this.#guarded(() => this.#writeManifest({ attempts: [attempt] }));
	}

	/**
	 * Writes everything that belongs to the end. Call it when the record has its end status. Never rejects.
	 * @returns whether the answer was stored whole
	 */
	async finish(end: RunEnd): Promise<boolean> {
		const { answer, attempt } = end;
		// The child, or somebody else, may have deleted it: what is known is written all the same.
		await this.#guarded(() => makeDirectory(this.paths.root));
		await this.#guarded(() => this.#closeSession(attempt));
		this.#journal.append(this.#runEnd(end));
		await this.#journal.close();
		const stored = answer !== null && (await this.#guarded(() => this.#storeResult(attempt.number, answer)));
		await this.amend(end);
		return stored;
	}

	/** Writes the verdict, again when more is known of it: summary and manifest. Never rejects. */
	async amend({ answer, attempt, ...verdict }: RunEnd): Promise<void> {
		const changes = { ...verdict, attempts: [attempt] };
		await this.#guarded(() =>
			writeAtomically(this.paths.summary, this.#redact(formatSummary(this.#manifest(changes), answer))),
		);
		await this.#guarded(() => this.#writeManifest(changes));
	}

	/** The last word of a program that ends in this tick: journal and manifest, without summary and result. Never throws. */
	finishNow(end: Omit<RunEnd, "answer">): void {
		const { attempt, ...verdict } = end;
		this.#journal.append(this.#runEnd({ ...end, answer: null }));
		this.#journal.closeNow();
		try {
			const temporary = `${this.paths.manifest}.${randomBytes(6).toString("hex")}.tmp`;
			const text = this.#manifestText({ ...verdict, attempts: [attempt] });
			writeFileSync(temporary, text, { mode: 0o600, flag: "wx" });
			renameSync(temporary, this.paths.manifest);
		} catch (error) {
			// There is nobody left to tell.
			this.#problem ??= messageOf(error);
		}
	}

	/** Masks the secrets of the environment in a text. */
	redact(text: string): string {
		return this.#redact(text);
	}

	async #storeResult(attempt: number, answer: string): Promise<void> {
		// "wx": a result is never overwritten.
		const file = await open(this.paths.result(attempt), "wx", 0o600);
		await file.writeFile(this.#redact(answer)).finally(() => file.close());
	}

	#runEnd({ exitPath, warnings, attempt: { exit } }: RunEnd): JournalEntry {
		const record = this.#record;
		return {
			type: "run-end",
			exitPath,
			status: record.status,
			warnings,
			turnsUsed: record.turns,
			maxTurns: null,
			repairCyclesUsed: 0,
			maxRepairCycles: null,
			tokensIn: record.lifetimeUsage.input,
			tokensOut: record.lifetimeUsage.output,
			cacheRead: record.lifetimeUsage.cacheRead,
			cacheWrite: record.lifetimeUsage.cacheWrite,
			cost: record.lifetimeUsage.known ? record.lifetimeUsage.cost.total : null,
			perTurn: record.perTurn,
			toolCounts: Object.fromEntries(record.toolCounts),
			durationMs: (record.completedAt ?? Date.now()) - record.createdAt,
			exitCode: exit?.code ?? null,
			signal: exit?.signal ?? null,
			stopReason: exit?.stopReason ?? null,
			forcedExit: exit?.forced ?? false,
			leftovers: exit?.leftovers ?? [],
		};
	}

	/** pi writes its session for everybody to read; the folder keeps others out, and a copy of the file should too. */
	async #closeSession({ sessionFile }: RunAttempt): Promise<void> {
		const file = sessionFile === null ? undefined : resolve(this.paths.root, sessionFile);
		// A child names its session before it writes it.
		if (file && existsSync(file)) await chmod(file, 0o600);
	}

	/** @returns whether it worked */
	async #guarded(write: () => Promise<void> | void): Promise<boolean> {
		try {
			await write();
			return true;
		} catch (error) {
			this.#problem ??= messageOf(error);
			return false;
		}
	}

	async #writeManifest(changes: Partial<RunManifest> = {}): Promise<void> {
		await writeAtomically(this.paths.manifest, this.#manifestText(changes));
	}

	#manifestText(changes: Partial<RunManifest>): string {
		const clean = redactJson(JSON.stringify(this.#manifest(changes)), this.#redact);
		return `${JSON.stringify(JSON.parse(clean), undefined, "\t")}\n`;
	}

	#manifest(changes: Partial<RunManifest>): RunManifest {
		const record = this.#record;
		return {
			version: 1,
			runId: record.runId,
			...this.#description,
			status: record.status,
			exitPath: null,
			reason: "",
			warnings: [],
			createdAt: new Date(record.createdAt).toISOString(),
			completedAt: record.completedAt === undefined ? null : new Date(record.completedAt).toISOString(),
			usage: record.lifetimeUsage,
			counters: {
				turns: record.turns,
				toolUses: record.toolUses,
				toolErrors: record.toolErrors,
				retries: record.retries,
				compactions: record.compactionCount,
			},
			attempts: [],
			recordComplete: this.problem === undefined,
			...changes,
		};
	}
}

/** What a child is given of the file system, beside the folder it works on. */
export interface WorkFolder {
	readonly sessionDir: string;
	/** Undefined for an agent without one. */
	readonly systemPromptFile: string | undefined;
}

async function fillWorkFolder(root: string, systemPrompt: string): Promise<WorkFolder> {
	const sessionDir = join(root, "session");
	makeDirectory(sessionDir);
	if (!systemPrompt) return { sessionDir, systemPromptFile: undefined };
	const systemPromptFile = join(root, "system-prompt.md");
	await writeFile(systemPromptFile, systemPrompt, { mode: 0o600 });
	return { sessionDir, systemPromptFile };
}

function messageOf(error: unknown): string {
	return error instanceof Error ? error.message : String(error);
}

/** The path of a session file as it is stored: relative to the record when it lies in it. */
export function storedPath(paths: RunPaths, file: string | undefined): string | null {
	if (file === undefined) return null;
	const inside = relative(paths.root, file);
	return inside.startsWith("..") ? file : inside;
}
