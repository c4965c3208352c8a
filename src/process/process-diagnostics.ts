import type { BusMetrics } from "./bus-metrics.ts";
import type { HrTimestamp } from "./hr-timestamp.ts";
import type { LogTailerMetrics } from "./log-tailer-metrics.ts";

/** When things happened, on the monotonic clock; undefined while they have not. */
export interface ProcessTimestamps {
	/** When somebody asked for the process. */
	readonly requested: HrTimestamp;
	/** When it was handed to us, right after the spawn. */
	readonly created: HrTimestamp;
	/** When the system had started it. */
	readonly running: HrTimestamp | undefined;
	readonly killRequested: HrTimestamp | undefined;
	/** When KILL was sent. */
	readonly killed: HrTimestamp | undefined;
	readonly exited: HrTimestamp | undefined;
}

/** Milliseconds; undefined while one end is missing, `total` and `processLifetime` run on until the exit. */
export interface ProcessDurations {
	readonly total: number;
	readonly spawnLatency: number;
	readonly startupLatency: number | undefined;
	readonly processLifetime: number | undefined;
	readonly killLatency: number | undefined;
}

export interface ProcessDiagnostics {
	readonly pid: number | undefined;
	readonly exitCode: number | null;
	readonly killed: boolean;
	readonly timestamps: ProcessTimestamps;
	readonly durations: ProcessDurations;
	readonly handlerNames: readonly string[];
	readonly busMetrics: BusMetrics;
	/** By name of the log source. */
	readonly tailerMetrics: Readonly<Record<string, LogTailerMetrics>>;
}
