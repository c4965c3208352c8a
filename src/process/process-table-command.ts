import { execFile } from "node:child_process";

/** Runs a command and gives its stdout, whatever its exit code. Rejects when it could not be run to its end. */
export type RunCommand = (command: string, args: readonly string[]) => Promise<string>;

/** Longer than a loaded system needs to list its processes, in milliseconds. */
const TIMEOUT_MS = 10_000;
const MAX_OUTPUT_BYTES = 64 * 1024 * 1024;

/** `RunCommand` on the real system, in the C locale and UTC so that times print the same for every user. */
export const runCommand: RunCommand = (command, args) =>
	new Promise((resolve, reject) => {
		const options = {
			env: { ...process.env, LC_ALL: "C", TZ: "UTC0" },
			maxBuffer: MAX_OUTPUT_BYTES,
			timeout: TIMEOUT_MS,
			windowsHide: true,
		};
		try {
			execFile(command, [...args], options, (error, stdout) => {
				// A number is an exit code: `ps -p` exits with 1 when there is no such process.
				if (error !== null && typeof error.code !== "number") reject(error);
				else resolve(stdout);
			});
		} catch (error) {
			// `spawn` throws at once on some failures, for example when no file descriptor is left.
			reject(error);
		}
	});

/** The message of anything thrown. */
export function messageOf(error: unknown): string {
	return error instanceof Error ? error.message : String(error);
}
