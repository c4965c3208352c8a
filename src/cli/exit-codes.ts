/** What the command's exit code says. */
export const EXIT = {
	completed: 0,
	failed: 1,
	usage: 2,
	/** 128 + SIGINT, as shells report it. */
	stopped: 130,
} as const;

export type ExitCode = (typeof EXIT)[keyof typeof EXIT];

/** The command was called in a way it does not understand; the message says how it is meant. */
export class UsageError extends Error {
	override readonly name = "UsageError";
}
