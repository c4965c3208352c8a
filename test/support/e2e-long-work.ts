import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { eventually, isAlive } from "./e2e-processes.ts";
import { runIdsIn } from "./e2e-records.ts";
import { bash, child, type Scene, type SceneOptions } from "./e2e-scene.ts";

/** Starts a process in a session of its own, as daemons do. */
const startDaemon = (ignored: readonly string[]) => `
const { spawn } = require("node:child_process");
const body = \`
	for (const signal of ${JSON.stringify(ignored)}) process.on(signal, () => undefined);
	require("node:fs").writeFileSync("daemon", String(process.pid));
	setTimeout(() => undefined, 302_000);\`;
spawn(process.execPath, ["-e", body], { detached: true, stdio: "ignore" }).unref();`;

/** A child that is in a tool call with a process in the background, a daemon and one in the foreground, for minutes. */
export const LONG_WORK = child([
	bash(
		`sleep 300 & echo $! > background; "${process.execPath}" start-daemon.cjs; echo $$ > shell; sleep 301; echo never`,
	),
	{ text: "never" },
]);

/** What {@link LONG_WORK} needs. A stubborn daemon outlives signals that ask; only KILL ends it. */
export function longWorkScene({ stubborn = false } = {}): SceneOptions {
	return { files: { "start-daemon.cjs": startDaemon(stubborn ? ["SIGTERM", "SIGHUP", "SIGINT"] : []) } };
}

export interface LongWork {
	readonly runId: string;
	/** Of the shell, its background process and the daemon. */
	readonly pids: readonly number[];
}

/** Resolves when the only child of the scene is in the middle of its tool call. */
export async function inLongWork({ cwd, agentDir }: Scene): Promise<LongWork> {
	const pids = await Promise.all(["background", "daemon", "shell"].map((name) => pidIn(join(cwd, name))));
	const [runId = ""] = await runIdsIn(agentDir);
	return { runId, pids };
}

function pidIn(file: string): Promise<number> {
	return eventually(async () => {
		if (!existsSync(file)) return undefined;
		// A file is made before it is written to.
		return Number.parseInt(await readFile(file, "utf8"), 10) || undefined;
	});
}

export async function aliveOf(pids: readonly number[]): Promise<number[]> {
	const alive = await Promise.all(pids.map(isAlive));
	return pids.filter((_, index) => alive[index]);
}
