import type { AgentDefinition, AgentProblem } from "./agent-definition.ts";
import { type AgentFolder, readAgentFolder } from "./read-agent-folder.ts";

export interface AgentFolders {
	/** The folder that comes with this package. */
	readonly builtinDir: string;
	readonly userDir: string;
	/** Only for a project that the user trusts: its agents say what a child is told and may do. */
	readonly projectDir?: string | undefined;
	readonly signal?: AbortSignal | undefined;
}

/** Every agent that can be named, once. */
export interface AgentCatalogue {
	/** The project's, then the user's, then the built-in ones; each by name. */
	readonly agents: readonly AgentDefinition[];
	/** Files that are not used, and why. What is odd about a file in use is in its definition's `warnings`. */
	readonly problems: readonly AgentProblem[];
}

/** Reads all agent files. A project's agent goes before a user's, and a user's before a built-in one of that name. */
export async function discoverAgents(folders: AgentFolders): Promise<AgentCatalogue> {
	const { builtinDir, userDir, projectDir, signal } = folders;
	const nothing: AgentFolder = { agents: [], problems: [] };
	const read = await Promise.all([
		projectDir === undefined ? nothing : readAgentFolder(projectDir, "project", signal),
		readAgentFolder(userDir, "user", signal),
		readAgentFolder(builtinDir, "builtin", signal),
	]);
	signal?.throwIfAborted();

	const agents = new Map<string, AgentDefinition>();
	const problems = read.flatMap((folder) => folder.problems);
	for (const agent of read.flatMap((folder) => [...folder.agents].sort(byName))) {
		const winner = agents.get(agent.name);
		if (!winner) agents.set(agent.name, agent);
		// A user's own file replacing a built-in agent is the point of it; a repository replacing the user's is news.
		else if (winner.source === "project" && agent.source === "user") problems.push(shadowed(winner, agent));
	}
	return { agents: [...agents.values()], problems };
}

/** By code unit and not by language: the order is part of a prompt and must not differ between machines. */
function byName(a: AgentDefinition, b: AgentDefinition): number {
	return a.name < b.name ? -1 : 1;
}

function shadowed(winner: AgentDefinition, hidden: AgentDefinition): AgentProblem {
	const message = `the project's agent \`${winner.name}\` in ${winner.file} hides your own in ${hidden.file}`;
	return { file: winner.file, field: "name", message };
}
