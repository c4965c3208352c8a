import { v7, validate, version } from "uuid";

/** A new run id: UUIDv7, so that ids sort by the time they were made. */
export function newRunId(): string {
	return v7();
}

/** Whether a text is a run id and may be used as the name of a folder. */
export function isRunId(text: string): boolean {
	return validate(text) && version(text) === 7 && text === text.toLowerCase();
}

/** The last 8 hex digits, for people: the first digits are the clock and collide. */
export function shortRunId(runId: string): string {
	return runId.slice(-8);
}
