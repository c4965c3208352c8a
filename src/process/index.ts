/** Watching child processes: a bus for all they say, one outcome when they end, and a stop that means it. */
export type { BusMetrics } from "./bus-metrics.ts";
export { type GuardedChild, Guardian, type GuardianOptions } from "./guardian.ts";
export { type FactoryErrorListener, OutputHandlerRegistry } from "./handler-registry.ts";
export { type HrTimestamp, hrNow, hrToEpoch, processOriginEpoch } from "./hr-timestamp.ts";
export type { LifecycleEvent, LifecycleEventType } from "./lifecycle-event.ts";
export { LogFileTailer, type LogTailerMetrics } from "./log-file-tailer.ts";
export type { LogSourceConfig } from "./log-source.ts";
export { makeDirectory } from "./make-directory.ts";
export { ManagedProcess, type ProcessEventListeners } from "./managed-process.ts";
export {
	ManagedProcessFactory,
	type ManagedProcessFactoryOptions,
	type ManagedProcessOptions,
} from "./managed-process-factory.ts";
export { type Operation, OperationError, type OperationResult } from "./operations.ts";
export {
	DEFAULT_MAX_LINE_BYTES,
	type LineListener,
	type OutputBusOptions,
	type OverlongEvent,
	ProcessOutputBus,
} from "./output-bus.ts";
export type { HandlerContext, OutputHandler, OutputHandlerFactory, TypedEvent } from "./output-handler.ts";
export { type OutputSource, OutputSources, sourceKey } from "./output-source.ts";
export type { ProcessDiagnostics, ProcessDurations, ProcessTimestamps } from "./process-diagnostics.ts";
export type { ProcessOutcome } from "./process-outcome.ts";
export { createProcessTable, type ProcessEntry, type ProcessMarker, type ProcessTable } from "./process-table.ts";
export { spawnChecked } from "./spawn-checked.ts";
export { checkSpawn, findOnPath, SpawnCheckError, type SpawnRequest } from "./spawn-checks.ts";
export type { LadderOptions } from "./stop-ladder.ts";
export type { DrainOptions } from "./stream-drain.ts";
export { settledWithin } from "./wait.ts";
