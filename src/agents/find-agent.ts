import type { AgentDefinition } from "./agent-definition.ts";
import type { AgentCatalogue } from "./discover-agents.ts";
import { listNames } from "./name-list.ts";
import { nearestName } from "./nearest-name.ts";
import { cutToBytes, oneLine } from "./one-line.ts";

export type FoundAgent =
	| { readonly kind: "found"; readonly definition: AgentDefinition }
	/** The message tells a model or a person what to write instead. */
	| { readonly kind: "unknown"; readonly message: string };

/** Finds an agent by its name, or by the only name that differs in capitals alone. It never falls back to another one. */
export function findAgent(catalogue: Pick<AgentCatalogue, "agents">, name: string): FoundAgent {
	const { agents } = catalogue;
	const wanted = name.trim().normalize("NFC");
	const exact = agents.find((agent) => agent.name === wanted);
	if (exact) return { kind: "found", definition: exact };
	const similar = agents.filter((agent) => agent.name.toLowerCase() === wanted.toLowerCase());
	const [only] = similar;
	if (only && similar.length === 1) return { kind: "found", definition: only };
	return { kind: "unknown", message: unknownMessage(wanted, agents, similar) };
}

const MAX_LIST_BYTES = 400;

function unknownMessage(
	wanted: string,
	agents: readonly AgentDefinition[],
	similar: readonly AgentDefinition[],
): string {
	const shown = cutToBytes(oneLine(wanted), 80);
	if (similar.length > 1) return `"${shown}" may be any of ${namesOf(similar)}. Use the exact name.`;
	if (agents.length === 0) return `Unknown agent "${shown}". No agents are available.`;
	const nearest = nearestName(
		wanted,
		agents.map((agent) => agent.name),
	);
	const hint = nearest === undefined ? "" : ` Did you mean "${nearest}"?`;
	return `Unknown agent "${shown}".${hint} Known agents: ${namesOf(agents)}.`;
}

function namesOf(agents: readonly AgentDefinition[]): string {
	return listNames(
		agents.map((agent) => agent.name),
		MAX_LIST_BYTES,
	).text;
}
