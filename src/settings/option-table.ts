/**
 * The options of a run, once for every surface: tool parameters, command flags, front matter and settings are made from
 * this table. Each has an "off" value, since models fill every parameter they see.
 */
export const RUN_OPTIONS = {
	agent: option("string", "", "Agent to run", ["parameter"]),
	task: option("string", "", "What to do, with all context: the agent sees nothing else", ["parameter"]),
	model: option("string", "", "Model as provider/id; empty: the agent's or yours", ["parameter", "flag", "settings"]),
	thinking: option("string", "", "Thinking level; empty: the agent's or yours", ["parameter", "flag", "settings"]),
	cwd: option("string", "", "Working directory; empty: yours", ["parameter", "flag"]),
	tools: option(
		"names",
		[],
		"Tools that agents may have although the session that starts them does not have them active",
		["settings"],
	),
	concurrency: option("integer", 0, "How many agents run at once; 0: by cores and memory", ["settings"]),
	maxDepth: option("integer", 2, "How many levels of agents may start agents", ["settings"]),
} as const satisfies Record<string, OptionSpec>;

export type OptionName = keyof typeof RUN_OPTIONS;

/** Where an option can be given. */
export type OptionSurface = "parameter" | "flag" | "settings";

export interface OptionSpec {
	readonly kind: "string" | "integer" | "names";
	/** The value that means "not given"; for settings, the default. */
	readonly off: string | number | readonly string[];
	readonly description: string;
	readonly surfaces: readonly OptionSurface[];
}

function option<K extends OptionSpec["kind"], V extends OptionSpec["off"]>(
	kind: K,
	off: V,
	description: string,
	surfaces: readonly OptionSurface[],
) {
	return { kind, off, description, surfaces } as const;
}

/** The names of the options that a surface offers, in the order of the table. */
export function optionsOf(surface: OptionSurface): OptionName[] {
	return (Object.keys(RUN_OPTIONS) as OptionName[]).filter((name) => RUN_OPTIONS[name].surfaces.includes(surface));
}

/** `maxTurns` → `max-turns`, as a command flag is written. */
export function flagName(option: OptionName): string {
	return option.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
}
