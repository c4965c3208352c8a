/** How hard a model thinks, in pi's words, from least to most. */
export const THINKING_LEVELS = ["off", "minimal", "low", "medium", "high", "xhigh", "max"] as const;

export type ThinkingLevel = (typeof THINKING_LEVELS)[number];

/** Where a definition came from. A project's agents come with its repository, a user's are their own. */
export type AgentSource = "builtin" | "user" | "project";

/** Something about an agent file that its author should know. */
export interface AgentProblem {
	/** Absolute path of the file or folder that it is about. */
	readonly file: string;
	/** The front matter field, in its house form. */
	readonly field?: string | undefined;
	/** Reads without the file: it names the field itself. */
	readonly message: string;
}

/** An agent as its Markdown file describes it. An undefined option means: the caller, settings or parent decide. */
export interface AgentDefinition {
	/** Passes `agentNameProblem`. */
	readonly name: string;
	/** As written, so it may hold several lines. */
	readonly description: string;
	readonly source: AgentSource;
	/** Absolute path of the Markdown file. */
	readonly file: string;
	/** The body, trimmed; may be empty. */
	readonly systemPrompt: string;
	/** Names of pi's tools; empty means none at all. Whether they exist is for those to check who know the tools. */
	readonly tools?: readonly string[] | undefined;
	readonly model?: string | undefined;
	readonly thinking?: ThinkingLevel | undefined;
	/** Paths are absolute. They name code that would run in the child: a caller checks trust before it passes them on. */
	readonly extensions?: "none" | "inherit" | readonly string[] | undefined;
	/** What was accepted, but probably not meant. */
	readonly warnings: readonly AgentProblem[];
}
