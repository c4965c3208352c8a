/** What a pi child is started with, decided elsewhere. */
export interface PiChildOptions {
	readonly sessionDir: string;
	readonly sessionId: string;
	/** Shown by pi where it lists sessions. */
	readonly name: string;
	/** Whether the child may load what the project's `.pi` folder holds. */
	readonly projectTrusted: boolean;
	/** `provider/id`; undefined: the child's default. */
	readonly model: string | undefined;
	readonly thinking: string | undefined;
	/** Undefined: the child's default tools. Empty: none. */
	readonly tools: readonly string[] | undefined;
	/** `none`, `inherit`: what pi would load by itself, or paths. */
	readonly extensions: "none" | "inherit" | readonly string[];
	/** Our own extension inside the child. */
	readonly childExtension: string;
	readonly systemPromptFile: string | undefined;
}

/** The command line of a pi child. The task is not on it: it goes by stdin, where length and first character do not matter. */
export function piArguments(options: PiChildOptions): string[] {
	const { extensions } = options;
	return [
		"--mode",
		"rpc",
		...(extensions === "inherit" ? [] : ["--no-extensions"]),
		...(typeof extensions === "string" ? [] : extensions.flatMap((path) => ["-e", path])),
		"-e",
		options.childExtension,
		"--session-dir",
		options.sessionDir,
		"--session-id",
		options.sessionId,
		"--name",
		options.name,
		options.projectTrusted ? "--approve" : "--no-approve",
		...(options.model === undefined ? [] : ["--model", options.model]),
		...(options.thinking === undefined ? [] : ["--thinking", options.thinking]),
		...toolArguments(options),
		...(options.systemPromptFile === undefined ? [] : ["--append-system-prompt", options.systemPromptFile]),
	];
}

/** pi's list of tools does not take away those of MCP servers: that needs a flag of its own. */
function toolArguments({ tools, extensions }: PiChildOptions): string[] {
	if (tools === undefined) return [];
	const names = tools.length === 0 ? ["--no-tools"] : ["--tools", tools.join(",")];
	const noMcp = extensions === "inherit" && !tools.some((name) => name.startsWith("mcp__"));
	return noMcp ? [...names, "--no-mcp"] : names;
}

/** How long a session name may be, in characters. */
const NAME_CHARACTERS = 80;

/** `<agent>: <task>` on one line, short enough for a list. */
export function sessionName(agent: string, task: string): string {
	const line = `${agent}: ${task}`.replace(/[\s\p{Cc}]+/gu, " ").trim();
	const characters = [...line];
	return characters.length <= NAME_CHARACTERS ? line : `${characters.slice(0, NAME_CHARACTERS - 1).join("")}…`;
}
