import { createHash } from "node:crypto";
import { hostname } from "node:os";
import type { ChildEvent } from "../events/agent-event.ts";
import { AgentRecord } from "../observers/agent-record.ts";
import { subscribeRecordObserver } from "../observers/record-observer.ts";
import {
	createProcessTable,
	Guardian,
	type ManagedProcess,
	ManagedProcessFactory,
	OutputHandlerRegistry,
	type ProcessOutcome,
	type ProcessTable,
} from "../process/index.ts";
import { newRunId } from "../records/run-id.ts";
import type { RunAttempt, RunMeta, RunOwner } from "../records/run-manifest.ts";
import { RunRecord, storedPath } from "../records/run-record.ts";
import type { AttemptOutcome } from "../runtimes/outcome.ts";
import { piEventsHandlerFactory } from "../runtimes/pi/events-handler.ts";
import type { PiProgram } from "../runtimes/pi/locate-pi.ts";
import { sessionName } from "../runtimes/pi/pi-arguments.ts";
import { type PiAttempt, type PiAttemptResult, startPiAttempt } from "../runtimes/pi/pi-attempt.ts";
import { currentDepth, parentRunId, piEnvironment, runMarker } from "../runtimes/pi/pi-environment.ts";
import { packageFiles } from "../settings/package-files.ts";
import type { RunPlan } from "./prepare-run.ts";

/** What all runs of one manager share. */
export interface ManagerOptions {
	/** pi's own folder. */
	readonly agentDir: string;
	/** Where records are kept. */
	readonly flightdeckDir: string;
	readonly program: PiProgram;
	readonly env?: NodeJS.ProcessEnv | undefined;
}

export interface SpawnOptions extends RunPlan {
	readonly projectTrusted: boolean;
	readonly startedBy: RunMeta["startedBy"];
	readonly parentSessionId?: string | undefined;
	/** Aborting it stops the run; aborted before the start, nothing is started. */
	readonly signal?: AbortSignal | undefined;
	/** Told in the tick in which the child was spawned: who wants its events subscribes to its bus then. */
	readonly onProcessCreated?: ((process: ManagedProcess<ChildEvent>, attempt: AttemptInfo) => void) | undefined;
}

/** One attempt, for whoever watches it. */
export interface AttemptInfo {
	readonly number: number;
	readonly record: AgentRecord;
	readonly recordDir: string;
}

/** How a run went. */
export interface RunResult {
	readonly record: AgentRecord;
	readonly outcome: AttemptOutcome;
	/** The folder of the run record; undefined when nothing was started. */
	readonly recordDir: string | undefined;
	/** Where the whole answer is, when there is one. */
	readonly resultFile: string | undefined;
	/** Why the record is incomplete, if it is. */
	readonly recordProblem: string | undefined;
	/** The model that answered, `provider/id`. */
	readonly model: string | undefined;
}

/** Starts runs and follows each to its end. */
export class AgentManager {
	readonly #options: ManagerOptions;
	readonly #env: NodeJS.ProcessEnv;
	readonly #factory: ManagedProcessFactory<ChildEvent>;
	readonly #table: ProcessTable;
	/** Ends the children if this process dies before it can. */
	readonly #guardian = new Guardian();
	#owner: Promise<RunOwner> | undefined;

	constructor(options: ManagerOptions) {
		this.#options = options;
		this.#env = options.env ?? process.env;
		this.#table = createProcessTable();
		const registry = new OutputHandlerRegistry<ChildEvent>();
		registry.registerFactory(piEventsHandlerFactory);
		this.#factory = new ManagedProcessFactory(registry, { table: this.#table });
	}

	/** Runs a task to its end. A run that fails or is stopped is a result, not an error. */
	async spawnAndWait(options: SpawnOptions): Promise<RunResult> {
		const record = new AgentRecord(newRunId());
		if (options.signal?.aborted) return notStarted(record);
		const meta = this.#meta(options);
		const run = await RunRecord.open({ flightdeckDir: this.#options.flightdeckDir, env: this.#env }, record, {
			owner: await this.#whoOwns(),
			agent: { name: options.agent.name, source: options.agent.source, file: options.agent.file },
			runtime: "pi",
			task: options.task,
			cwd: options.cwd,
			meta,
		});
		const attempt = await this.#attempt(options, record, run);
		return { record, recordDir: run.exists ? run.paths.root : undefined, recordProblem: run.problem, ...attempt };
	}

	/** Lets go of the guardian. Call it when no run is under way. */
	dispose(): void {
		this.#guardian.dispose();
	}

	/** One child, from its start to the end of its record. Whatever was subscribed is unsubscribed on every way out. */
	async #attempt(options: SpawnOptions, record: AgentRecord, run: RunRecord) {
		const cleanup: (() => void)[] = [];
		let entry = plannedAttempt(record.runId);
		let result: PiAttemptResult | undefined;
		let outcome: AttemptOutcome;
		try {
			const attempt = await this.#start(options, record, run);
			if (!attempt) outcome = ABORTED_EARLY;
			else {
				cleanup.push(...this.#follow(attempt, options, record, run));
				const identified = this.#identify(attempt.process).then((identity) => {
					entry = { ...entry, ...identity };
					return run.update(entry);
				});
				result = await attempt.finished;
				await identified;
				outcome = result.outcome;
			}
		} catch (error) {
			outcome = spawnFailure(error);
		} finally {
			for (const end of cleanup) end();
		}
		record.markEnded(outcome.status);
		const warnings = [...options.warnings, ...outcome.warnings];
		entry = { ...entry, ...finishedAttempt(run, result) };
		await run.finish({ ...outcome, warnings, attempt: entry });
		return {
			outcome: { ...outcome, warnings },
			model: result?.model,
			resultFile: outcome.answer === null || !run.exists ? undefined : run.paths.result(entry.number),
		};
	}

	/** @returns undefined when the run was aborted while its record was being made */
	async #start(options: SpawnOptions, record: AgentRecord, run: RunRecord): Promise<PiAttempt | undefined> {
		const { agent, task, cwd } = options;
		const { sessionDir, systemPromptFile } = await run.makeWorkFolder(agent.systemPrompt);
		if (options.signal?.aborted) return undefined;
		return startPiAttempt(
			{
				runId: record.runId,
				task,
				cwd,
				program: this.#options.program,
				env: piEnvironment({ env: this.#env, runId: record.runId, agentDir: this.#options.agentDir }),
				child: {
					sessionDir,
					sessionId: record.runId,
					name: sessionName(agent.name, task),
					projectTrusted: options.projectTrusted,
					model: options.model.value,
					thinking: options.thinking.value,
					tools: options.tools,
					extensions: options.extensions,
					childExtension: packageFiles().childExtension,
					systemPromptFile,
				},
			},
			this.#factory,
		);
	}

	/** Subscribes everything that watches an attempt. @returns what ends it again */
	#follow(attempt: PiAttempt, options: SpawnOptions, record: AgentRecord, run: RunRecord): (() => void)[] {
		const { process } = attempt;
		const stop = () => {
			const reason = "stopped by the user";
			if (record.status === "starting" || record.status === "running") record.markStopping();
			run.noteStopRequest(reason);
			attempt.stop(reason);
		};
		options.signal?.addEventListener("abort", stop, { once: true });
		const ends = [
			() => options.signal?.removeEventListener("abort", stop),
			subscribeRecordObserver(process.bus, record),
			run.observe(process.bus),
			process.on("lifecycle", (event) => run.noteLifecycle(event)),
			process.bus.subscribe(
				() => {
					if (record.status === "starting") record.markRunning();
				},
				{ types: ["agent_start"] },
			),
			...(process.pid === undefined
				? []
				: [this.#guardian.register({ pid: process.pid, marker: runMarker(record.runId) })]),
		];
		options.onProcessCreated?.(process, { number: 1, record, recordDir: run.paths.root });
		return ends;
	}

	async #identify({ pid }: ManagedProcess<ChildEvent>) {
		if (pid === undefined) return {};
		const [entry, bootId] = await Promise.all([this.#table.find(pid), this.#table.bootId()]);
		return { pid, startTime: entry?.startTime ?? null, bootId };
	}

	#whoOwns(): Promise<RunOwner> {
		this.#owner ??= Promise.all([this.#table.find(process.pid), this.#table.bootId()]).then(([self, bootId]) => ({
			host: hostname(),
			bootId,
			pid: process.pid,
			startTime: self?.startTime ?? "",
		}));
		return this.#owner;
	}

	#meta(options: SpawnOptions): RunMeta {
		const { program } = this.#options;
		const { version, root } = packageFiles();
		return {
			startedBy: options.startedBy,
			flightdeck: { version, path: root },
			node: process.version,
			platform: `${process.platform}-${process.arch}`,
			pi: { version: program.version ?? null, command: [program.command, ...program.args], foundBy: program.foundBy },
			model: { id: options.model.value ?? null, source: options.model.source },
			thinking: { level: options.thinking.value ?? null, source: options.thinking.source },
			tools: options.tools ?? null,
			depth: currentDepth(this.#env) + 1,
			parentRunId: parentRunId(this.#env) ?? null,
			parentSessionId: options.parentSessionId ?? null,
			taskBytes: Buffer.byteLength(options.task),
			taskSha256: createHash("sha256").update(options.task).digest("hex"),
		};
	}
}

const ABORTED_EARLY: AttemptOutcome = {
	status: "stopped",
	exitPath: "stopped",
	answer: null,
	reason: "stopped by the user before it started",
	warnings: [],
};

function notStarted(record: AgentRecord): RunResult {
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
