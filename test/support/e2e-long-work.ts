import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { eventually, isAlive } from "./e2e-processes.ts";
import { runIdsIn } from "./e2e-records.ts";
import { bash, child, type Scene, type SceneOptions } from "./e2e-scene.ts";

/** Starts a process in a session of its own, as daemons do, which outlives signals that ask. */
const START_DAEMON = `
const { spawn } = require("node:child_process");
const body = \`
	for (const signal of ["SIGTERM", "SIGHUP", "SIGINT"]) process.on(signal, () => undefined);
	require("node:fs").writeFileSync("daemon.tmp", String(process.pid));
	require("node:fs").renameSync("daemon.tmp", "daemon");
	setTimeout(() => undefined, 302_000);\`;
spawn(process.execPath, ["-e", body], { detached: true, stdio: "ignore" }).unref();`;

/** A child that is in a tool call with a process in the background, a daemon and one in the foreground, for minutes. */
export const LONG_WORK = child([
	bash(
		`sleep 300 & echo $! > background; "${process.execPath}" start-daemon.cjs; echo $$ > shell; sleep 301; echo never`,
	),
	{ text: "never" },
]);

export const LONG_WORK_SCENE: SceneOptions = { files: { "start-daemon.cjs": START_DAEMON } };

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
		// The shell makes the file before it writes to it.
		return Number.parseInt(await readFile(file, "utf8"), 10) || undefined;
	});
}

export async function aliveOf(pids: readonly number[]): Promise<number[]> {
	const alive = await Promise.all(pids.map(isAlive));
	return pids.filter((_, index) => alive[index]);
}
