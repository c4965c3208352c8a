import { homedir } from "node:os";
import { join, resolve } from "node:path";
import { isRunId } from "./run-id.ts";

const RECORDS_VARIABLE = "PI_FLIGHTDECK_DIR";

/** Where everything of ours is kept: `$PI_FLIGHTDECK_DIR`, else `flightdeck` in pi's own folder. */
export function flightdeckDirectory(from: { readonly env: NodeJS.ProcessEnv; readonly agentDir: string }): string {
	const given = from.env[RECORDS_VARIABLE]?.replace(/^~(?=$|[/\\])/, () => homedir());
	return resolve(given || join(from.agentDir, "flightdeck"));
}

/** The places of one run's record. Paths inside of a record are relative to `root`. */
export interface RunPaths {
	readonly root: string;
	readonly manifest: string;
	readonly journal: string;
	readonly summary: string;
	result(attempt: number): string;
}

/** @throws RangeError for anything that is no run id: it becomes a path */
export function runPaths(flightdeckDir: string, runId: string): RunPaths {
	if (!isRunId(runId)) throw new RangeError(`"${runId.slice(0, 80)}" is no run id.`);
	const root = join(flightdeckDir, "runs", runId);
	return {
		root,
		manifest: join(root, "run.json"),
		journal: join(root, "events.jsonl"),
		summary: join(root, "summary.md"),
		result: (attempt) => join(root, `result-${attempt}.md`),
	};
}
