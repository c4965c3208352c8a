import { MOCK_MODELS } from "../../support/mock-models.ts";
import type { Answer } from "../../support/model-script.ts";

/** Tokens that fit into the context of the model below, and how many of them stay free. */
const CONTEXT_WINDOW = 20_000;

/** The scripted models with a context so small that the work below does not fit into it. */
export const SMALL_MODELS = MOCK_MODELS.map((model) => ({ ...model, contextWindow: CONTEXT_WINDOW }));

export const COMPACTING_SETTINGS = { compaction: { enabled: true, reserveTokens: 4000, keepRecentTokens: 50 } };

/** One answer per model request. */
export const WORK: readonly Answer[] = [
	{
		text: "Both at once. \ud83d\udc69\u200d\ud83d\udcbb",
		toolCalls: [
			{ name: "bash", args: { command: "echo one" } },
			{ name: "read", args: { path: "no-such-file.txt" } },
		],
		usage: { input: 1000, output: 20 },
		chunkCharacters: 3,
	},
	{ status: 500 },
	{
		toolCalls: [{ name: "bash", args: { command: "echo two; exit 3" } }],
		usage: { input: 1500, output: 30, cacheRead: 500 },
	},
	// Fills the context, so that it is compacted before the next turn.
	{
		toolCalls: [{ name: "write", args: { path: "done.txt", content: "x\n".repeat(500) } }],
		usage: { input: 17_000, output: 500, cacheRead: 500 },
	},
	{ text: "The summary: all was done.", usage: { input: 3000, output: 100 } },
	{ text: "All done.", usage: { input: 2000, output: 10 } },
];

export const WORK_TOOLS = ["bash", "read", "write"];

/** What observers must have counted, read off the script. */
export const WORK_COUNTERS = {
	toolUses: 4,
	toolErrors: 2,
	toolCounts: { bash: 2, read: 1, write: 1 },
	turns: 5,
	retries: 1,
	compactionCount: 1,
};
