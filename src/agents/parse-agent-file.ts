import { basename } from "node:path";
import type { AgentDefinition, AgentProblem, AgentSource } from "./agent-definition.ts";
import { agentNameProblem } from "./agent-name.ts";
import { type AgentField, nameFields } from "./field-names.ts";
import { InvalidField, readExtensions, readModel, readText, readThinking, readTools } from "./field-values.ts";
import { readFrontMatter } from "./front-matter.ts";

export type ParsedAgentFile =
	| { readonly kind: "agent"; readonly definition: AgentDefinition }
	| { readonly kind: "invalid"; readonly problem: AgentProblem }
	/** Not an agent file, a README for example. */
	| { readonly kind: "ignored" };

/**
 * Reads an agent definition from the text of a Markdown file. Never throws.
 * @param file its absolute path: relative extension paths and a missing name are derived from it
 */
export function parseAgentFile(text: string, file: string, source: AgentSource): ParsedAgentFile {
	const frontMatter = readFrontMatter(text);
	if (frontMatter.kind === "none") return { kind: "ignored" };
	if (frontMatter.kind === "broken") return { kind: "invalid", problem: { file, message: frontMatter.message } };
	const { values, warnings } = nameFields(frontMatter.fields);
	if (!values.has("name") && !values.has("description")) return { kind: "ignored" };

	const repairs = frontMatter.repaired.map((field) => ({
		field,
		message: `\`${field}\` should be in quotes: a bare \`: \` in it is not valid YAML`,
	}));
	try {
		const definition: AgentDefinition = {
			name: readName(values.get("name"), file),
			description: readDescription(values.get("description")),
			source,
			file,
			systemPrompt: frontMatter.body,
			...readOptions(values, file),
			warnings: [...repairs, ...warnings].map((warning) => ({ file, ...warning })),
		};
		return { kind: "agent", definition };
	} catch (error) {
		if (!(error instanceof InvalidField)) throw error;
		return { kind: "invalid", problem: { file, field: error.field, message: error.message } };
	}
}

/** The name given, else that of the file. File systems differ in how they compose characters, so both are normalised. */
function readName(value: unknown, file: string): string {
	const given = value === undefined ? basename(file, ".md") : readText("name", value);
	const name = given.normalize("NFC");
	const problem = agentNameProblem(name);
	if (problem) {
		throw new InvalidField(
			"name",
			value === undefined ? `is missing, and the file can't lend its own: ${problem}` : `is not valid: ${problem}`,
		);
	}
	return name;
}

function readDescription(value: unknown): string {
	if (value === undefined) throw new InvalidField("description", "is missing: say in one line what the agent is for");
	return readText("description", value);
}

/** Only the options that the file sets; `all` and `inherit` set nothing. */
function readOptions(
	values: ReadonlyMap<AgentField, unknown>,
	file: string,
): Pick<AgentDefinition, "tools" | "model" | "thinking" | "extensions"> {
	const read = <T>(field: AgentField, reader: (value: unknown) => T): T | undefined =>
		values.has(field) ? reader(values.get(field)) : undefined;
	const tools = read("tools", readTools);
	const model = read("model", readModel);
	const thinking = read("thinking", readThinking);
	const extensions = read("extensions", (value) => readExtensions(value, file));
	return {
		...(tools && { tools }),
		...(model !== undefined && { model }),
		...(thinking && { thinking }),
		...(extensions && { extensions }),
	};
}
