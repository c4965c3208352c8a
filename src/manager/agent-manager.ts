import { createHash } from "node:crypto";
import { hostname } from "node:os";
import type { ChildEvent } from "../events/agent-event.ts";
import { AgentRecord } from "../observers/index.ts";
import { createProcessTable, Guardian, ManagedProcessFactory, OutputHandlerRegistry } from "../process/index.ts";
import { newRunId } from "../records/run-id.ts";
import type { RunMeta, RunOwner } from "../records/run-manifest.ts";
import { RunRecord } from "../records/run-record.ts";
import { piEventsHandlerFactory } from "../runtimes/pi/events-handler.ts";
import type { PiProgram } from "../runtimes/pi/locate-pi.ts";
import { currentDepth, parentRunId } from "../runtimes/pi/pi-environment.ts";
import { packageFiles } from "../settings/package-files.ts";
import { LiveRun, notStarted, type RunSurroundings } from "./live-run.ts";
import type { RunResult, SpawnOptions } from "./spawn-options.ts";
import { StartQueue, startLimits } from "./start-queue.ts";

/** What all runs of one manager share. */
export interface ManagerOptions {
	/** pi's own folder. */
	readonly agentDir: string;
	/** Where records are kept. */
	readonly flightdeckDir: string;
	readonly program: PiProgram;
	readonly env?: NodeJS.ProcessEnv | undefined;
	/** How many children run at once; others wait in line. 0, the default: by cores and memory. */
	readonly concurrency?: number | undefined;
}

/**
 * pi stops the runs of a session, waits for their results, and only then says that the session ends: how long that may take,
 * in milliseconds. It comes within a few; a person who stops a run and then quits takes longer.
 */
const SHUTDOWN_FOLLOWS_MS = 500;

/** Starts runs and follows each to its end. */
export class AgentManager {
	readonly #options: ManagerOptions;
	readonly #around: RunSurroundings;
	readonly #live = new Set<LiveRun>();
	#owner: Promise<RunOwner> | undefined;

	constructor(options: ManagerOptions) {
		this.#options = options;
		const table = createProcessTable();
		const registry = new OutputHandlerRegistry<ChildEvent>();
		registry.registerFactory(piEventsHandlerFactory);
		this.#around = {
			agentDir: options.agentDir,
			program: options.program,
			env: options.env ?? process.env,
			factory: new ManagedProcessFactory(registry, { table }),
			table,
			queue: new StartQueue(startLimits(options.concurrency ?? 0)),
			// Ends the children if this process dies before it can.
			guardian: new Guardian(),
		};
	}

	/** Runs a task to its end. A run that fails or is stopped is a result, not an error. */
	async spawnAndWait(options: SpawnOptions): Promise<RunResult> {
		const record = new AgentRecord(newRunId(), "queued");
		if (options.signal?.aborted) return notStarted(record);
		const { env } = this.#around;
		const run = await RunRecord.open({ flightdeckDir: this.#options.flightdeckDir, env }, record, {
			owner: await this.#whoOwns(),
			agent: { name: options.agent.name, source: options.agent.source, file: options.agent.file },
			runtime: "pi",
			task: options.task,
			cwd: options.cwd,
			meta: this.#meta(options),
		});
		const live = new LiveRun(record, run, options, this.#around);
		this.#live.add(live);
		return live.work().finally(() => setTimeout(() => this.#live.delete(live), SHUTDOWN_FOLLOWS_MS).unref());
	}

	/** The session that asked for the runs ends. Stopping them is for whoever holds their signals. */
	async noteShutdown(): Promise<void> {
		await Promise.all([...this.#live].map((live) => live.noteShutdown()));
	}

	/** Gives the records of all runs their last word, in this tick: this program is about to end. */
	abandon(): void {
		for (const live of this.#live) live.abandon();
	}

	/** Lets go of the guardian. Call it when no run is under way. */
	dispose(): void {
		this.#around.guardian.dispose();
	}

	#whoOwns(): Promise<RunOwner> {
		this.#owner ??= Promise.all([this.#around.table.find(process.pid), this.#around.table.bootId()]).then(
			([self, bootId]) => ({
				host: hostname(),
				bootId,
				pid: process.pid,
				startTime: self?.startTime ?? "",
			}),
		);
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
			depth: currentDepth(this.#around.env) + 1,
			parentRunId: parentRunId(this.#around.env) ?? null,
			parentSessionId: options.parentSessionId ?? null,
			taskBytes: Buffer.byteLength(options.task),
			taskSha256: createHash("sha256").update(options.task).digest("hex"),
		};
	}
}
