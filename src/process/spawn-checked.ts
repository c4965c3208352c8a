import { type ChildProcess, type SpawnOptions, spawn } from "node:child_process";
import { checkSpawn, SpawnCheckError, type SpawnRequest } from "./spawn-checks.ts";

/**
 * Spawns a program after looking whether that can succeed: never through a shell, without a console window on Windows, and
 * in a process group of its own elsewhere, so that a terminal's Ctrl-C does not reach it and a stop reaches all of it.
 * @throws SpawnCheckError in the same tick, with a text a user can act on
 */
export function spawnChecked(request: SpawnRequest, stdio: SpawnOptions["stdio"] = "pipe"): ChildProcess {
	checkSpawn(request);
	try {
		return spawn(request.command, request.args, {
			cwd: request.cwd,
			env: request.env,
			stdio,
			shell: false,
			windowsHide: true,
			detached: process.platform !== "win32",
		});
	} catch (error) {
		// Node throws some failures instead of reporting them as an event.
		throw new SpawnCheckError(
			`${request.command} could not be started: ${error instanceof Error ? error.message : error}`,
		);
	}
}
