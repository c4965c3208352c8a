import type { AgentDefinition } from "./agent-definition.ts";
import { listNames, withCount } from "./name-list.ts";
import { cutToBytes, oneLine } from "./one-line.ts";

/** A description cut shorter than this says nothing. */
const LEAST_DESCRIPTION = 24;

/** The two spaces and brackets around a description. */
const FRAME = Buffer.byteLength(" ()");

/**
 * One line that tells a model which agents there are: `scout (finds things in the code), worker (…), +3 more`.
 * Names come first, since a model can call an agent by its name alone; descriptions share the room that is left, and
 * where it is too little for all of them the first agents get theirs. The same agents always give the same line.
 */
export function formatRoster(agents: readonly Pick<AgentDefinition, "name" | "description">[], maxBytes = 450): string {
	const names = agents.map((agent) => oneLine(agent.name));
	const list = listNames(names, maxBytes);
	let room = maxBytes - Buffer.byteLength(list.text);
	const entries = names.slice(0, list.shown).map((name, index) => {
		const share = Math.floor(room / (list.shown - index)) - FRAME;
		const description = describe(agents[index]?.description ?? "", Math.max(share, LEAST_DESCRIPTION));
		const bytes = Buffer.byteLength(description) + FRAME;
		if (description === "" || bytes > room) return name;
		room -= bytes;
		return `${name} (${description})`;
	});
	return list.shown === 0 ? list.text : withCount(entries, names.length - list.shown);
}

function describe(description: string, maxBytes: number): string {
	return cutToBytes(oneLine(description).replace(/\.$/, ""), maxBytes);
}
