import { assistantMessages, type ToolResultMessage, textOf, toolResults } from "../../support/pi-records.ts";
import { type PiRecord, type PiRun, runPi } from "../../support/run-pi.ts";
import { PARENT_PROMPT, PUBLISHED, type Scene } from "./e2e-scene.ts";

export interface ParentOptions {
	/** The published form by default. */
	readonly extension?: string;
	/** Further arguments for pi. */
	readonly args?: readonly string[];
	/** Laid over the environment of the scene; undefined removes. */
	readonly env?: Readonly<Record<string, string | undefined>>;
}

export interface ParentRun extends PiRun {
	/** What `subagent` returned, call by call. */
	readonly results: readonly SubagentResult[];
}

export interface SubagentResult {
	readonly text: string;
	readonly isError: boolean;
	readonly usage: ToolResultMessage["usage"];
}

/** The command line of a parent pi with the extension and nothing else. */
export function parentArguments({ extension = PUBLISHED.extension, args = [] }: ParentOptions): string[] {
	return ["-ne", "-e", extension, ...args];
}

/** Runs a real pi with the extension in json mode to its end. */
export async function runParent(scene: Scene, options: ParentOptions = {}): Promise<ParentRun> {
	const run = await runPi({
		args: ["--mode", "json", ...parentArguments(options), PARENT_PROMPT],
		env: { ...scene.env, ...options.env },
		cwd: scene.cwd,
		timeoutMs: 100_000,
	});
	return { ...run, results: subagentResults(run.records) };
}

export function subagentResults(records: readonly PiRecord[]): SubagentResult[] {
	return toolResults(records)
		.filter(({ toolName }) => toolName === "subagent")
		.map((message) => ({ text: textOf(message), isError: message.isError, usage: message.usage }));
}

/** The result of a parent that called once. */
export function onlyResult(results: readonly SubagentResult[]): SubagentResult {
	const [result, ...more] = results;
	if (result === undefined || more.length > 0) throw new Error(`Not one result: ${JSON.stringify(results)}`);
	return result;
}

/** Tokens and USD as pi counts them for a session: its own messages and what its tools report. */
export function parentTotals(records: readonly PiRecord[]) {
	const sum = { input: 0, output: 0, cacheRead: 0, cost: 0 };
	for (const { usage } of [...assistantMessages(records), ...toolResults(records)]) {
		sum.input += usage?.input ?? 0;
		sum.output += usage?.output ?? 0;
		sum.cacheRead += usage?.cacheRead ?? 0;
		sum.cost += usage?.cost.total ?? 0;
	}
	return sum;
}

/** What the server served in one conversation. */
export function servedIn({ server }: Scene, conversation: string) {
	const sum = { input: 0, output: 0, cacheRead: 0 };
	for (const request of server.requests().filter((each) => each.conversation === conversation)) {
		sum.input += request.usage?.input ?? 0;
		sum.output += request.usage?.output ?? 0;
		sum.cacheRead += request.usage?.cacheRead ?? 0;
	}
	return sum;
}

/** The text between the fence lines that the result of a run has around the child's answer. */
export function fencedOutput(text: string): string | undefined {
	return /<(run-[0-9a-f]{8}-output-[0-9a-f]{8})>\n([\s\S]*)\n<\/\1>/.exec(text)?.[2];
}
