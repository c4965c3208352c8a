import { looksLike } from "./nearest-name.ts";
import { cutToBytes, oneLine } from "./one-line.ts";

/** The front matter fields of an agent file, in their house form. */
export type AgentField = "name" | "description" | "tools" | "model" | "thinking" | "extensions";

/** What other programs call them, after camelCase and kebab-case have become snake_case. */
const OTHER_SPELLINGS: Readonly<Record<AgentField, readonly string[]>> = {
	name: [],
	description: [],
	tools: ["allowed_tools"],
	model: [],
	thinking: ["thinking_level", "effort", "reasoning_effort"],
	extensions: [],
};

const FIELDS = Object.keys(OTHER_SPELLINGS).filter((key): key is AgentField => Object.hasOwn(OTHER_SPELLINGS, key));

/** Fields of other programs that happen to be spelled almost like one of ours. */
const NOT_A_TYPO: readonly string[] = ["mode", "hooks", "goals", "date", "note"];

/** Fields whose loss gives the agent more than its author meant it to have. */
const LOST_LIMITS: readonly string[] = ["disallowed_tools", "exclude_tools"];

export interface NamedFields {
	/** Only fields that hold something: an empty value is the same as a field left out. */
	readonly values: ReadonlyMap<AgentField, unknown>;
	readonly warnings: readonly { readonly field: string; readonly message: string }[];
}

/** Finds our fields among those of a file, however they are spelled, and says which ones may be a slip. */
export function nameFields(fields: ReadonlyMap<string, unknown>): NamedFields {
	const values = new Map<AgentField, unknown>();
	const warnings: { field: string; message: string }[] = [];
	const houseFormFirst = [...fields].sort(([a], [b]) => Number(isField(b)) - Number(isField(a)));
	for (const [key, value] of houseFormFirst) {
		const spelling = snakeCase(key);
		const field = FIELDS.find((known) => known === spelling || OTHER_SPELLINGS[known].includes(spelling));
		if (!field) {
			const message = unknownField(key, spelling);
			if (message) warnings.push({ field: cutToBytes(oneLine(key), 64), message });
		} else if (isBlank(value)) {
			if (field === "tools")
				warnings.push({ field, message: "`tools` is empty and ignored; for no tools write `none`" });
		} else if (values.has(field)) {
			warnings.push({ field, message: `\`${key}\` is ignored: the file has \`${field}\` in another spelling too` });
		} else {
			values.set(field, value);
		}
	}
	return { values, warnings };
}

function isField(key: string): boolean {
	return FIELDS.some((field) => field === key);
}

function snakeCase(key: string): string {
	return key
		.trim()
		.replace(/([a-z\d])([A-Z])/g, "$1_$2")
		.replaceAll("-", "_")
		.toLowerCase();
}

/** Most unknown fields belong to another program that reads the same file, and are none of our business. */
function unknownField(key: string, spelling: string): string | undefined {
	if (LOST_LIMITS.includes(spelling))
		return `\`${key}\` is not supported and ignored; list the wanted ones in \`tools\``;
	if (NOT_A_TYPO.includes(spelling)) return undefined;
	const meant = FIELDS.find((field) => looksLike(spelling, field));
	return meant && `unknown field \`${oneLine(key)}\` is ignored; did you mean \`${meant}\`?`;
}

function isBlank(value: unknown): boolean {
	return value === null || value === undefined || (typeof value === "string" && value.trim() === "");
}
