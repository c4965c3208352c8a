import { stripVTControlCharacters } from "node:util";
import { cutToBytes, oneLine } from "../agents/one-line.ts";
import type { AgentActivity, AgentRecord, UsageTotals } from "../observers/index.ts";
import { formatCost, formatCount, formatNumber } from "../records/format.ts";

/** How long one description may be, in bytes. */
const MAX_BYTES = 160;
const SHOWN_TOOLS = 4;
/** Which argument says what a call is about, for tools whose arguments we know and for most others. */
const TELLING_ARGUMENTS = ["command", "path", "file_path", "pattern", "query", "url", "task", "agent"];

/** Text of a child made fit for one line of a terminal: no control sequences, no line ends. */
export function printableLine(text: string, maxBytes = MAX_BYTES): string {
	return cutToBytes(oneLine(stripVTControlCharacters(text.toWellFormed())), maxBytes);
}

/** Text of a child, or about one, without anything that would act on a terminal. Line ends and tabs stay. */
export function printableText(text: string): string {
	// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is taken out
	return stripVTControlCharacters(text.toWellFormed()).replace(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g, "");
}

/** A tool call on one line: `bash npm test`, `read src/index.ts`. */
export function describeTool(name: string, args: unknown): string {
	if (typeof args !== "object" || args === null) return printableLine(name);
	const values = new Map<string, unknown>(Object.entries(args));
	const key = TELLING_ARGUMENTS.find((candidate) => typeof values.get(candidate) === "string");
	const about = key === undefined ? JSON.stringify(args) : String(values.get(key));
	return printableLine(`${name} ${about}`);
}

/** What a child does at this moment, on one line. */
export function describeActivity(activity: AgentActivity): string {
	// A line has room for a few: a child may claim to run any number.
	const tools = [...activity.activeTools.values()]
		.slice(0, SHOWN_TOOLS)
		.map((tool) => describeTool(tool.name, tool.args));
	if (tools.length > 0) return printableLine(tools.join(" · "));
	if (activity.phase === "retrying") return printableLine(`retrying after: ${activity.note}`);
	const lastLine = activity.text.trimEnd().split("\n").at(-1);
	if (activity.phase === "writing" && lastLine) return printableLine(lastLine);
	return activity.phase;
}

/** `3 turns · 5 tool uses · ↑12.3k ↓1.2k R40.0k · $0.0123`. What is unknown is left out. */
export function describeCounters(record: Pick<AgentRecord, "turns" | "toolUses" | "lifetimeUsage">): string {
	return [
		formatNumber(record.turns, "turn"),
		...(record.toolUses > 0 ? [formatNumber(record.toolUses, "tool use")] : []),
		...describeUsage(record.lifetimeUsage),
	].join(" · ");
}

function describeUsage(usage: UsageTotals): string[] {
	if (!usage.known) return [];
	const cache = [
		usage.cacheRead > 0 ? ` R${formatCount(usage.cacheRead)}` : "",
		usage.cacheWrite > 0 ? ` W${formatCount(usage.cacheWrite)}` : "",
	].join("");
	return [`↑${formatCount(usage.input)} ↓${formatCount(usage.output)}${cache}`, formatCost(usage.cost.total)];
}
