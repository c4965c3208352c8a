/** Milliseconds on the monotonic clock of this process. Means nothing outside this session: convert before storing. */
export type HrTimestamp = number & { readonly __unit?: "monotonic-ms" };

/** The wall-clock time, in milliseconds since the epoch, at which this process's monotonic clock read zero. */
export const processOriginEpoch: number = performance.timeOrigin;

/** Now, on the monotonic clock. */
export function hrNow(): HrTimestamp {
	return performance.now();
}

/** Converts a monotonic timestamp of this process to milliseconds since the epoch. */
export function hrToEpoch(timestamp: HrTimestamp): number {
	return processOriginEpoch + timestamp;
}
