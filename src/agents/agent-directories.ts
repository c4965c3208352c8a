import { lstat, stat } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";

export interface AgentDirectories {
	/** May not exist. */
	readonly userDir: string;
	/** The project's folder, if there is one. Whether to read it is a question of trust, for the caller to answer. */
	readonly projectDir?: string | undefined;
}

/** No project lies deeper. */
const MAX_LEVELS = 100;

/**
 * Where agent files are looked for. The project's folder is the nearest `.pi/agents` from `cwd` up to the root of its git
 * work tree; outside of one only that of `cwd` itself counts, as folders above it may be anybody's.
 * @param agentDir pi's own folder, as pi resolves it
 */
export async function agentDirectories(from: { agentDir: string; cwd: string }): Promise<AgentDirectories> {
	const userDir = join(resolve(from.agentDir), "agents");
	const projectDir = await findProjectDir(resolve(from.cwd));
	// A user may keep pi's own folder inside a project: those agents are the user's.
	return projectDir === undefined || projectDir === userDir ? { userDir } : { userDir, projectDir };
}

async function findProjectDir(cwd: string): Promise<string | undefined> {
	const inCwd = join(cwd, ".pi", "agents");
	let nearest: string | undefined;
	let dir = cwd;
	for (let level = 0; level < MAX_LEVELS; level++) {
		const candidate = join(dir, ".pi", "agents");
		if (nearest === undefined && (await isFolder(candidate))) nearest = candidate;
		if (await isGitRoot(dir)) return nearest;
		const parent = dirname(dir);
		if (parent === dir) break;
		dir = parent;
	}
	return nearest === inCwd ? nearest : undefined;
}

async function isFolder(path: string): Promise<boolean> {
	try {
		return (await stat(path)).isDirectory();
	} catch (error) {
		// What is there but can't be looked at is for the reader of the folder to report.
		return !(error instanceof Error && "code" in error && (error.code === "ENOENT" || error.code === "ENOTDIR"));
	}
}

/** `.git` is a folder, or a file in linked work trees and submodules. */
async function isGitRoot(dir: string): Promise<boolean> {
	try {
		const stats = await lstat(join(dir, ".git"));
		return stats.isDirectory() || stats.isFile();
	} catch {
		// Missing, or not to be looked at: it marks no root for us.
		return false;
	}
}
