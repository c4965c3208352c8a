import { existsSync } from "node:fs";
import { join } from "node:path";
import { findOnPath, type ProcessMarker } from "../../process/index.ts";

const DEPTH_VARIABLE = "PI_FLIGHTDECK_DEPTH";
const RUN_VARIABLE = "PI_FLIGHTDECK_RUN";
/** How deep other extensions of this kind count: read, so that a mixed installation stays bounded too. */
const FOREIGN_DEPTH_VARIABLES = ["PI_SUBAGENT_DEPTH", "PI_CREW_DEPTH"];
/** Set by pi for the commands of its shell tools: stale in a child. */
const SESSION_VARIABLES = ["PI_SESSION_ID", "PI_SESSION_FILE", "PI_PROVIDER", "PI_MODEL", "PI_REASONING_LEVEL"];

/** How many agents stand above this process; 0 in a session that a person started. */
export function currentDepth(env: NodeJS.ProcessEnv): number {
	const depths = [DEPTH_VARIABLE, ...FOREIGN_DEPTH_VARIABLES].map((name) =>
		Math.floor(Number.parseFloat(env[name] ?? "")),
	);
	return Math.max(0, ...depths.filter(Number.isSafeInteger));
}

/** The run that this process works on, if it is a child of one. */
export function parentRunId(env: NodeJS.ProcessEnv): string | undefined {
	return env[RUN_VARIABLE] || undefined;
}

/** By which the child and all its descendants are found again. */
export function runMarker(runId: string): ProcessMarker {
	return { name: RUN_VARIABLE, value: runId };
}

/** The environment of a pi child: ours without what describes our session, with depth and marker. */
export function piEnvironment(from: {
	readonly env: NodeJS.ProcessEnv;
	readonly runId: string;
	readonly agentDir: string;
}): NodeJS.ProcessEnv {
	const env = { ...from.env };
	for (const name of SESSION_VARIABLES) delete env[name];
	const marker = runMarker(from.runId);
	env[marker.name] = marker.value;
	env[DEPTH_VARIABLE] = String(currentDepth(from.env) + 1);
	env.PI_CODING_AGENT_DIR = from.agentDir;
	env.PI_SKIP_VERSION_CHECK = "1";
	// Offline saves a catalog refresh, but then pi does not fetch the programs behind its grep and find tools either.
	if (hasTool("rg", from) && hasTool("fd", from)) env.PI_OFFLINE = "1";
	return env;
}

function hasTool(name: string, { env, agentDir }: { env: NodeJS.ProcessEnv; agentDir: string }): boolean {
	const file = process.platform === "win32" ? `${name}.exe` : name;
	return findOnPath(name, env) !== undefined || existsSync(join(agentDir, "bin", file));
}
