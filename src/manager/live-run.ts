import type { ChildEvent } from "../events/agent-event.ts";
import type { AgentRecord } from "../observers/agent-record.ts";
import { subscribeRecordObserver } from "../observers/record-observer.ts";
import type { Guardian, ManagedProcessFactory, ProcessOutcome, ProcessTable } from "../process/index.ts";
import type { RunAttempt } from "../records/run-manifest.ts";
import { type RunEnd, type RunRecord, storedPath } from "../records/run-record.ts";
import type { AttemptOutcome } from "../runtimes/outcome.ts";
import type { PiProgram } from "../runtimes/pi/locate-pi.ts";
import { sessionName } from "../runtimes/pi/pi-arguments.ts";
import { type PiAttempt, type PiAttemptResult, startPiAttempt } from "../runtimes/pi/pi-attempt.ts";
import { piEnvironment, runMarker } from "../runtimes/pi/pi-environment.ts";
import { packageFiles } from "../settings/package-files.ts";
import type { RunResult, SpawnOptions } from "./spawn-options.ts";
import type { StartQueue } from "./start-queue.ts";

/** What a run needs of the manager around it. */
export interface RunSurroundings {
	readonly agentDir: string;
	readonly program: PiProgram;
	readonly env: NodeJS.ProcessEnv;
	readonly factory: ManagedProcessFactory<ChildEvent>;
	readonly table: ProcessTable;
	readonly guardian: Guardian;
	readonly queue: StartQueue;
}

const SHUTDOWN = "shutdown";

/** Why a signal was aborted, if whoever did it said so. pi does not: see `noteShutdown`. */
function stopReasonOf(signal: AbortSignal | undefined): string {
	return typeof signal?.reason === "string" ? signal.reason : "stopped by the user";
}

/** One run while it is under way: its child, its record in memory, and its record on disk. */
export class LiveRun {
	readonly record: AgentRecord;
	readonly #run: RunRecord;
	readonly #options: SpawnOptions;
	readonly #around: RunSurroundings;
	#entry: RunAttempt;
	/** Writes of the manifest, one after the other. */
	#saving: Promise<void> = Promise.resolve();
	#shutdown = false;
	#abandoned = false;
	/** Known from the moment in which it begins to be written. */
	#end: RunEnd | undefined;
	#finishing: Promise<boolean> | undefined;
	#finished = false;

	constructor(record: AgentRecord, run: RunRecord, options: SpawnOptions, around: RunSurroundings) {
		this.record = record;
		this.#run = run;
		this.#options = options;
		this.#around = around;
		this.#entry = plannedAttempt(record.runId);
	}

	/** Waits for its turn, starts the child and follows it to the end of its record. Never rejects. */
	async work(): Promise<RunResult> {
		const leave = await this.#around.queue.enter(this.#options.signal);
		if (leave) {
			this.record.markStarting();
			this.#save();
		}
		const { outcome: verdict, result } = leave ? await this.#attempt().finally(leave) : NEVER_STARTED;
		const outcome: AttemptOutcome = {
			...verdict,
			reason: this.#run.redact(verdict.status === "stopped" && this.#shutdown ? SHUTDOWN : verdict.reason),
			warnings: [...this.#options.warnings, ...verdict.warnings].map((warning) => this.#run.redact(warning)),
		};
		await this.#saving;
		if (!this.#abandoned) this.record.markEnded(outcome.status);
		this.#entry = { ...this.#entry, ...finishedAttempt(this.#run, result) };
		this.#end = { ...outcome, attempt: this.#entry };
		this.#finishing = this.#run.finish(this.#end);
		const stored = await this.#finishing;
		this.#finished = true;
		return {
			record: this.record,
			outcome,
			recordDir: this.#run.exists ? this.#run.paths.root : undefined,
			resultFile: stored ? this.#run.paths.result(this.#entry.number) : undefined,
			recordProblem: this.#run.problem,
			model: result?.model,
		};
	}

	/**
	 * The session around it ends: that, and not the abort that came of it, is why the run is stopped. To a tool call Esc and the
	 * end of the session look the same, and pi tells of the latter only when the call has ended: then the record is amended.
	 */
	async noteShutdown(): Promise<void> {
		this.#shutdown = true;
		await this.#finishing;
		if (this.#end?.exitPath === "stopped") await this.#run.amend({ ...this.#end, reason: SHUTDOWN });
	}

	/** This program ends in this tick: the record gets its last word. The child is ended by the guardian. */
	abandon(): void {
		this.#abandoned = true;
		if (this.#finished) return;
		// Its end is being written, and there is no time to wait for that.
		if (this.#end) {
			this.#run.finishNow(this.#end);
			return;
		}
		this.record.markEnded("stopped");
		this.#run.finishNow({
			exitPath: "stopped",
			reason: stopReasonOf(this.#options.signal),
			warnings: [],
			attempt: this.#entry,
		});
	}

	/** One child. Whatever was subscribed is unsubscribed on every way out. */
	async #attempt(): Promise<AttemptEnd> {
		const ends: (() => void)[] = [];
		try {
			const attempt = await this.#start();
			if (!attempt) return { outcome: ABORTED_EARLY };
			ends.push(...this.#follow(attempt));
			const identified = this.#identify(attempt);
			const result = await attempt.finished;
			await identified;
			return { outcome: result.outcome, result };
		} catch (error) {
			return { outcome: spawnFailure(error) };
		} finally {
			for (const end of ends) end();
		}
	}

	/** @returns undefined when the run was aborted while its record was being made */
	async #start(): Promise<PiAttempt | undefined> {
		const { agent, task, cwd, signal, ...options } = this.#options;
		const { runId } = this.record;
		const { sessionDir, systemPromptFile } = await this.#run.makeWorkFolder(agent.systemPrompt);
		if (signal?.aborted) return undefined;
		const child = {
			sessionDir,
			sessionId: runId,
			// Other users may see it on the command line.
			name: sessionName(agent.name, this.#run.redact(task)),
			projectTrusted: options.projectTrusted,
			model: options.model.value,
			thinking: options.thinking.value,
			tools: options.tools,
			extensions: options.extensions,
			childExtension: packageFiles().childExtension,
			systemPromptFile,
		};
		const { program, agentDir, factory } = this.#around;
		const env = piEnvironment({ env: this.#around.env, runId, agentDir });
		return startPiAttempt({ runId, task, cwd, program, env, child }, factory);
	}

	/** Subscribes everything that watches an attempt. @returns what ends it again */
	#follow(attempt: PiAttempt): (() => void)[] {
		const { process } = attempt;
		const { signal } = this.#options;
		const stop = () => {
			if (this.record.status === "starting" || this.record.status === "running") this.record.markStopping();
			const reason = stopReasonOf(signal);
			this.#run.noteStopRequest(reason);
			this.#save();
			attempt.stop(reason);
		};
		const markRunning = () => {
			if (this.record.status !== "starting") return;
			this.record.markRunning();
			this.#save();
		};
		signal?.addEventListener("abort", stop, { once: true });
		const ends = [
			() => signal?.removeEventListener("abort", stop),
			subscribeRecordObserver(process.bus, this.record),
			this.#run.observe(process.bus),
			process.on("lifecycle", (event) => this.#run.noteLifecycle(event)),
			process.bus.subscribe(markRunning, { types: ["agent_start"] }),
		];
		if (process.pid !== undefined)
			ends.push(this.#around.guardian.register({ pid: process.pid, marker: runMarker(this.record.runId) }));
		this.#options.onProcessCreated?.(process, { number: 1, record: this.record, recordDir: this.#run.paths.root });
		return ends;
	}

	/** By pid and start time the child can be told from a stranger later, also after we are gone. */
	async #identify({ process: { pid } }: PiAttempt): Promise<void> {
		if (pid === undefined) return;
		const { table } = this.#around;
		const [entry, bootId] = await Promise.all([table.find(pid), table.bootId()]);
		this.#entry = { ...this.#entry, pid, startTime: entry?.startTime ?? null, bootId };
		this.#save();
	}

	#save(): void {
		this.#saving = this.#saving.then(() => (this.#abandoned ? undefined : this.#run.update(this.#entry)));
	}
}

const ABORTED_EARLY: AttemptOutcome = {
	status: "stopped",
	exitPath: "stopped",
	answer: null,
	reason: "stopped by the user before it started",
	warnings: [],
};

interface AttemptEnd {
	readonly outcome: AttemptOutcome;
	/** Undefined when there was no child. */
	readonly result?: PiAttemptResult | undefined;
}

const NEVER_STARTED: AttemptEnd = { outcome: ABORTED_EARLY };

/** The result of a run that was aborted before anything was done for it. */
export function notStarted(record: AgentRecord): RunResult {
	record.markEnded("stopped");
	return {
		record,
		outcome: ABORTED_EARLY,
		recordDir: undefined,
		resultFile: undefined,
		recordProblem: undefined,
		model: undefined,
	};
}

function spawnFailure(error: unknown): AttemptOutcome {
	const reason = error instanceof Error ? error.message : String(error);
	return { status: "failed", exitPath: "spawn-failed", answer: null, reason, warnings: [] };
}

function plannedAttempt(runId: string): RunAttempt {
	return {
		number: 1,
		sessionId: runId,
		sessionFile: null,
		pid: null,
		startTime: null,
		bootId: null,
		model: null,
		exit: null,
	};
}

function finishedAttempt(run: RunRecord, result: PiAttemptResult | undefined): Partial<RunAttempt> {
	if (!result) return {};
	return {
		sessionFile: storedPath(run.paths, result.sessionFile),
		model: result.model ?? null,
		exit: storedExit(result.process),
	};
}

function storedExit(outcome: ProcessOutcome): RunAttempt["exit"] {
	return {
		code: outcome.code,
		signal: outcome.signal,
		stopReason: outcome.stopReason ?? null,
		forced: outcome.forcedExit,
		streams: outcome.streams,
		leftovers: outcome.leftovers,
		stderrTail: outcome.stderrTail,
	};
}
