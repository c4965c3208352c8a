import { statSync } from "node:fs";
import { homedir } from "node:os";
import { resolve } from "node:path";
import { type AgentDefinition, THINKING_LEVELS } from "../agents/agent-definition.ts";
import type { AgentCatalogue } from "../agents/discover-agents.ts";
import { findAgent } from "../agents/find-agent.ts";
import type { FlightdeckSettings } from "../settings/read-settings.ts";
import { type Choice, choose } from "../settings/resolve-model.ts";
import { printableLine } from "./describe-activity.ts";

/** What a caller asks for, as it came: empty texts mean "not given". */
export interface RunRequest {
	readonly agent: string;
	readonly task: string;
	readonly model?: string | undefined;
	readonly thinking?: string | undefined;
	readonly cwd?: string | undefined;
}

/** Who asks. */
export interface Caller {
	/** What its explicit values are called in the record. */
	readonly explicitSource: "parameter" | "flag";
	readonly cwd: string;
	/** The model and thinking level of the session that asks, if one does. */
	readonly model?: string | undefined;
	readonly thinking?: string | undefined;
	/** Tools active in the session that asks: a child gets no others. Undefined: nobody to compare with. */
	readonly activeTools?: readonly string[] | undefined;
	/** All tools that exist in it. */
	readonly knownTools?: readonly string[] | undefined;
	/** Providers that an extension of the session registered: a child without that extension lacks them. */
	readonly extensionProviders?: readonly string[] | undefined;
	/** Whether the session knows a model; undefined: nobody to ask. */
	readonly knowsModel?: ((provider: string, id: string) => boolean) | undefined;
	/** How many agents stand above. */
	readonly depth: number;
}

/** A run, decided. */
export interface RunPlan {
	readonly agent: AgentDefinition;
	readonly task: string;
	/** Absolute. */
	readonly cwd: string;
	readonly model: Choice;
	readonly thinking: Choice;
	/** Undefined: the child's default tools. */
	readonly tools: readonly string[] | undefined;
	readonly extensions: "none" | "inherit" | readonly string[];
	readonly warnings: readonly string[];
}

/** A request that cannot be carried out, in words that say what to do instead. */
export class RunRefusedError extends Error {
	override readonly name = "RunRefusedError";
}

/** Tools of ours: a child that may not load our extension does not have them, whatever its list says. */
const OWN_TOOLS: ReadonlySet<string> = new Set(["subagent"]);

/**
 * Decides everything about a run before anything is started.
 * @throws RunRefusedError
 */
export function planRun(
	request: RunRequest,
	caller: Caller,
	known: { readonly catalogue: AgentCatalogue; readonly settings: FlightdeckSettings },
): RunPlan {
	const { settings, catalogue } = known;
	if (caller.depth >= settings.maxDepth)
		throw new RunRefusedError(
			`Agents may be nested ${settings.maxDepth} deep (flightdeck.maxDepth), and this one is at that depth.${caller.explicitSource === "parameter" ? " Do the task yourself." : ""}`,
		);
	if (request.task.trim() === "") throw new RunRefusedError("The task is empty. Say what the agent is to do.");
	const found = findAgent(catalogue, request.agent);
	if (found.kind === "unknown") throw new RunRefusedError(withProblems(found.message, catalogue, request.agent));
	const agent = found.definition;
	const extensions = agent.extensions ?? "none";
	const { tools, warnings } = resolveTools(agent, caller, settings.tools);
	const explicit = (value: string | undefined) => ({ value, source: caller.explicitSource });
	const model = choose({
		explicit: explicit(request.model),
		agent: agent.model,
		settings: settings.model,
		parent: caller.model,
	});
	const thinking = choose({
		explicit: explicit(request.thinking),
		agent: agent.thinking,
		settings: settings.thinking,
		parent: caller.thinking,
	});
	checkThinking(thinking);
	warnings.push(...checkModel(model, extensions, caller));
	return {
		agent,
		task: request.task,
		cwd: resolveCwd(request.cwd, caller.cwd),
		model,
		thinking,
		tools,
		extensions,
		warnings,
	};
}

/** A file that was skipped may be the very one that is missed. */
function withProblems(message: string, { problems }: AgentCatalogue, name: string): string {
	const related = problems.filter(({ file }) => file.toLowerCase().includes(name.trim().toLowerCase() || "\0"));
	return [message, ...related.map((problem) => `Skipped ${problem.file}: ${problem.message}`)].join(" ");
}

function resolveCwd(given: string | undefined, callerCwd: string): string {
	// Models put an @ before paths, as people do in prompts.
	const text = (given ?? "").replace(/^@/, "");
	const cwd = resolve(
		callerCwd,
		text.replace(/^~(?=$|[/\\])/, () => homedir()),
	);
	const stats = statsOf(cwd);
	if (!stats)
		throw new RunRefusedError(`The working directory ${cwd} does not exist. Give an existing one, or leave cwd out.`);
	if (!stats.isDirectory())
		throw new RunRefusedError(`The working directory ${cwd} is a file. Give a directory, or leave cwd out.`);
	return cwd;
}

function statsOf(path: string) {
	try {
		return statSync(path, { throwIfNoEntry: false });
	} catch (error) {
		// A NUL, a name that is too long, a circle of links.
		const why = error instanceof Error && "code" in error ? ` (${error.code})` : "";
		throw new RunRefusedError(
			`The working directory ${printableLine(path)} cannot be used${why}. Give another one, or leave cwd out.`,
		);
	}
}

function checkThinking({ value, source }: Choice): void {
	const levels: readonly string[] = THINKING_LEVELS;
	if (value !== undefined && !levels.includes(value))
		throw new RunRefusedError(`"${value}" (${source}) is no thinking level. Use one of: ${levels.join(", ")}.`);
}

/** @returns warnings: a model that nobody knows may still exist, since pi hands unknown ids on to their provider */
function checkModel({ value, source }: Choice, extensions: RunPlan["extensions"], caller: Caller): string[] {
	if (value?.startsWith("-")) throw new RunRefusedError(`"${value}" (${source}) is no model. Use provider/id.`);
	const provider = value?.split("/")[0];
	if (provider && extensions === "none" && caller.extensionProviders?.includes(provider))
		throw new RunRefusedError(
			`The model ${value} (${source}) comes from an extension that registers the provider "${provider}", and the agent loads no extensions. ` +
				"Give another model, or set extensions: inherit (or the extension's path) in the agent file.",
		);
	if (!provider || provider === value || extensions !== "none" || !caller.knowsModel) return [];
	const id = value.slice(provider.length + 1);
	const level = id.split(":").at(-1) ?? "";
	const levels: readonly string[] = THINKING_LEVELS;
	const bare = levels.includes(level) ? id.slice(0, -level.length - 1) : id;
	if (caller.knowsModel(provider, id) || caller.knowsModel(provider, bare)) return [];
	return [`The model ${value} (${source}) is not among those that pi knows; it goes to its provider as it is.`];
}

/**
 * Never more than the caller has, but for what the user's settings allow. A name that no tool has is a mistake in the agent
 * file, and said to be one.
 */
function resolveTools(agent: AgentDefinition, { activeTools, knownTools }: Caller, allowed: readonly string[]) {
	const warnings: string[] = [];
	if (!activeTools) return { tools: agent.tools, warnings };
	const inherited = activeTools.filter((name) => !OWN_TOOLS.has(name));
	if (!agent.tools) return { tools: inherited, warnings };
	const unknown = agent.tools.filter((name) => knownTools && !knownTools.includes(name));
	// Extensions of the agent's own may bring tools that this session has never heard of.
	const bringsTools = agent.extensions !== undefined && agent.extensions !== "none";
	if (unknown.length > 0 && !bringsTools)
		throw new RunRefusedError(
			`The agent "${agent.name}" (${agent.file}) lists tools that do not exist: ${unknown.join(", ")}. Known: ${knownTools?.join(", ")}.`,
		);
	const withheld = agent.tools.filter(
		(name) => !inherited.includes(name) && !allowed.includes(name) && !(bringsTools && unknown.includes(name)),
	);
	// A built-in agent lists what it can use at best; somebody's own file lists what they expect.
	if (withheld.length > 0 && agent.source !== "builtin")
		warnings.push(`Not given, since the session does not have them active: ${withheld.join(", ")}.`);
	return { tools: agent.tools.filter((name) => !withheld.includes(name)), warnings };
}
