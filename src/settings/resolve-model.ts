import type { ModelSource } from "../records/run-manifest.ts";

export interface Choice {
	/** Undefined: the child's own default. */
	readonly value: string | undefined;
	readonly source: ModelSource;
}

/** The candidates for one choice; empty and undefined mean "not given". */
export interface Candidates {
	readonly explicit?: { readonly value: string | undefined; readonly source: "flag" | "parameter" } | undefined;
	readonly agent?: string | undefined;
	readonly settings?: string | undefined;
	readonly parent?: string | undefined;
}

/** Decides a model or thinking level and says where it came from: explicit, then agent, settings, parent. */
export function choose({ explicit, agent, settings, parent }: Candidates): Choice {
	if (explicit?.value) return { value: explicit.value, source: explicit.source };
	if (agent) return { value: agent, source: "agent" };
	if (settings) return { value: settings, source: "settings" };
	if (parent) return { value: parent, source: "parent" };
	return { value: undefined, source: "default" };
}
