import { type ChildProcess, spawn } from "node:child_process";
import type { OutputHandlerRegistry } from "./handler-registry.ts";
import { type HrTimestamp, hrNow, hrToEpoch } from "./hr-timestamp.ts";
import { LogFileTailer } from "./log-file-tailer.ts";
import type { LogSourceConfig } from "./log-source.ts";
import { ManagedProcess } from "./managed-process.ts";
import { ProcessOutputBus } from "./output-bus.ts";
import type { HandlerContext, TypedEvent } from "./output-handler.ts";
import { OutputSources, sourceKey } from "./output-source.ts";
import { createProcessTable, type ProcessMarker, type ProcessTable } from "./process-table.ts";
import type { LadderOptions } from "./stop-ladder.ts";
import type { DrainOptions } from "./stream-drain.ts";
import { type RunTaskkill, type SpawnProgram, taskkillBy } from "./windows-kill.ts";

/** What a child is and what is to be read of it. Everything but the label may be left out. */
export interface ManagedProcessOptions extends Omit<HandlerContext, "processLabel" | "emit" | "wants"> {
	/** Kind of the process: chooses its handlers. */
	readonly label: string;
	readonly logSources?: readonly LogSourceConfig[] | undefined;
	/** When somebody asked for the process, on the monotonic clock. Default: now. */
	readonly requestedAt?: HrTimestamp | undefined;
	/** Longest line in bytes, for every source. Default 64 MiB. */
	readonly maxLineBytes?: number | undefined;
	/** A variable in the child's environment by which it and its descendants are found again. */
	readonly envMarker?: ProcessMarker | undefined;
	readonly ladder?: LadderOptions | undefined;
	readonly drain?: DrainOptions | undefined;
}

/** Replacements for tests of what cannot run here. */
export interface ManagedProcessFactoryOptions {
	readonly platform?: NodeJS.Platform | undefined;
	/** Starts taskkill, as `child_process.spawn` does. */
	readonly spawn?: SpawnProgram | undefined;
	readonly table?: ProcessTable | undefined;
}

/** File systems take birth times from a clock that is up to a scheduler tick behind, in milliseconds; rounded up. */
const BIRTH_TIME_LAG_MS = 20;

/** Turns raw children into managed ones: makes the bus, the handlers for the label, and the tailers. */
export class ManagedProcessFactory<E extends TypedEvent = TypedEvent> {
	readonly #registry: OutputHandlerRegistry<E>;
	readonly #platform: NodeJS.Platform;
	readonly #runTaskkill: RunTaskkill;
	readonly #table: ProcessTable;

	constructor(registry: OutputHandlerRegistry<E>, options: ManagedProcessFactoryOptions = {}) {
		this.#registry = registry;
		this.#platform = options.platform ?? process.platform;
		this.#runTaskkill = taskkillBy(options.spawn ?? spawn);
		this.#table = options.table ?? createProcessTable(this.#platform);
	}

	/** Takes over the output of a child. To be called in the tick of its spawn; its stdin stays with the caller. */
	create(child: ChildProcess, options: ManagedProcessOptions): ManagedProcess<E> {
		const { label, logSources: given = [], requestedAt, maxLineBytes, envMarker, ladder, drain, ...context } = options;
		const logSources = given.map((source) => ({ maxLineBytes, ...source }));
		const limits = logSources.map((source) => [sourceKey(OutputSources.logFile(source.name)), source.maxLineBytes]);
		const bus = new ProcessOutputBus<E>({ maxLineBytes, maxLineBytesBySource: Object.fromEntries(limits) });
		const handlers = this.#registry.createHandlers(
			{ ...context, processLabel: label, emit: (event) => bus.emit(event), wants: (type) => bus.wants(type) },
			(name, error) => bus.noteHandlerError(name, error),
		);
		for (const handler of handlers) {
			try {
				bus.register(handler);
			} catch (error) {
				bus.noteHandlerError(handler.name, error);
			}
		}
		const since = hrToEpoch(requestedAt ?? hrNow()) - BIRTH_TIME_LAG_MS;
		const tailers = new Map(logSources.map((source) => [source.name, new LogFileTailer(source, bus, { since })]));
		const managed = new ManagedProcess<E>(child, {
			bus,
			tailers,
			table: this.#table,
			platform: this.#platform,
			runTaskkill: this.#runTaskkill,
			requestedAt,
			marker: envMarker,
			ladder,
			drain,
		});
		for (const tailer of tailers.values()) tailer.start();
		return managed;
	}
}
