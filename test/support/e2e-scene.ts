import { existsSync } from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { onTestFinished } from "vitest";
import manifest from "../../package.json" with { type: "json" };
import { type AgentDirectory, createAgentDirectory } from "../../support/agent-directory.ts";
import type { Answer, Conversation } from "../../support/model-script.ts";
import { type ModelServer, startModelServer } from "../../support/model-server.ts";
import { killCarriers } from "./e2e-processes.ts";
import { runIdsIn } from "./e2e-records.ts";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));

/** The two forms of the package that pi can load, and the command that belongs to each. */
export const FORMS = [
	{
		form: "published",
		extension: join(ROOT, manifest.pi.extensions[0] ?? ""),
		command: join(ROOT, manifest.bin.flightdeck),
	},
	{ form: "source", extension: join(ROOT, "src/extension/index.ts"), command: join(ROOT, "src/cli/bin.ts") },
] as const;

/** What users get, and what starts faster: the form for everything that is tested once. */
export const [PUBLISHED] = FORMS;

/** A model server with its script, an agent directory for pi that knows it, and all processes started for it. */
export interface Scene extends AgentDirectory {
	readonly server: ModelServer;
}

export interface SceneOptions {
	readonly settings?: Readonly<Record<string, unknown>>;
	/** Files by their path in the user's agent folder: `good.md`, `boom.ts`. */
	readonly agents?: Readonly<Record<string, string>>;
	/** Files by their path in the working directory. */
	readonly files?: Readonly<Record<string, string>>;
}

/** Everything is gone when the test has finished, also what a failed test left running. */
export async function createScene(conversations: readonly Conversation[], options: SceneOptions = {}): Promise<Scene> {
	for (const file of [PUBLISHED.extension, PUBLISHED.command])
		if (!existsSync(file)) throw new Error(`${file} is missing: run \`node scripts/build.ts --no-types\`.`);
	const server = await startModelServer({ conversations });
	const directory = await createAgentDirectory({ modelServerUrl: server.url, settings: options.settings ?? {} });
	onTestFinished(async () => {
		await server.stop();
		await killCarriers(await runIdsIn(directory.agentDir));
		await directory.cleanup();
	});
	await writeFiles(join(directory.agentDir, "agents"), options.agents ?? {});
	await writeFiles(directory.cwd, options.files ?? {});
	return { ...directory, server };
}

async function writeFiles(folder: string, files: Readonly<Record<string, string>>): Promise<void> {
	for (const [name, content] of Object.entries(files)) {
		const file = join(folder, name);
		await mkdir(dirname(file), { recursive: true });
		await writeFile(file, content);
	}
}

export interface SubagentCall {
	readonly agent?: string;
	readonly task: string;
	readonly model?: string;
	readonly thinking?: string;
	readonly cwd?: string;
}

/** What the parent is asked; no task begins so. */
export const PARENT_PROMPT = "PARENT go";
/** What every task begins with when the child's model gets it. */
const TASK_PREFIX = "Task: ";

/** The parent's model: calls `subagent` in each of its turns, once or several times, then says that it is done. */
export function parent(...turns: readonly (SubagentCall | readonly SubagentCall[])[]): Conversation {
	const calling = turns.map((turn): Answer => {
		const calls: readonly SubagentCall[] = "task" in turn ? [turn] : turn;
		const toolCalls = calls.map((call) => ({
			name: "subagent",
			// As models do: every parameter is filled.
			args: { agent: "worker", model: "", thinking: "", cwd: "", ...call },
		}));
		return { toolCalls, usage: { input: 1000, output: 12 }, chunkCharacters: 20_000 };
	});
	const done: Answer = { text: "parent done", usage: { input: 400, output: 5, cacheRead: 900 } };
	return {
		name: "parent",
		when: ({ userText }) => userText.startsWith(PARENT_PROMPT),
		answers: [...calling, done],
	};
}

/** A child's model. With several children each is known by a text in its task. */
export function child(answers: Conversation["answers"], task = ""): Conversation {
	return {
		name: task === "" ? "child" : `child ${task}`,
		when: ({ userText }) => userText.startsWith(TASK_PREFIX) && userText.includes(task),
		answers,
	};
}

export function bash(command: string): Answer {
	return { toolCalls: [{ name: "bash", args: { command } }] };
}

/** The text of an agent file. */
export function agentFile(fields: Readonly<Record<string, string>>, prompt = "You help."): string {
	const lines = Object.entries({ description: "For tests", ...fields }).map(([name, value]) => `${name}: ${value}`);
	return `---\n${lines.join("\n")}\n---\n${prompt}\n`;
}
