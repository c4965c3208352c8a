import { parseDocument } from "yaml";
import { oneLine } from "./one-line.ts";

/** The head of a Markdown file, read as data. */
export type FrontMatter =
	| { readonly kind: "none" }
	| { readonly kind: "broken"; readonly message: string }
	| {
			readonly kind: "fields";
			readonly fields: ReadonlyMap<string, unknown>;
			/** What follows, trimmed. */
			readonly body: string;
			/** Fields that were no YAML as written, but could be read. */
			readonly repaired: readonly string[];
	  };

/** Room for a very long description; YAML far above it is an attempt to keep us busy. */
const MAX_FRONT_MATTER = 64 * 1024;

/** Enough for anchors that a person would write, too little for an expansion that doubles at each step. */
const MAX_ALIASES = 32;

/**
 * Reads the front matter of a Markdown file. A file that is no agent file stays unremarked: broken front matter is only
 * reported if a name or a description can be made out in it.
 */
export function readFrontMatter(text: string): FrontMatter {
	const normalised = text.replace(/^\uFEFF/, "").replace(/\r\n?/g, "\n");
	const opening = /^(?:[ \t]*\n)*---[ \t]*\n/.exec(normalised);
	if (!opening) return { kind: "none" };
	const start = opening[0].length;
	// Not `^` and `$` by line: to them U+2028 ends a line too.
	const closing = /(?<=\n)---[ \t]*(?=\n|$)/g;
	closing.lastIndex = start;
	const end = closing.exec(normalised);
	const yaml = normalised.slice(start, end?.index ?? start + MAX_FRONT_MATTER);
	const broken = (message: string): FrontMatter =>
		/^["']?(?:name|description)["']?[ \t]*:/im.test(yaml) ? { kind: "broken", message } : { kind: "none" };

	if (!end) return broken("the front matter is not closed: a line `---` is missing");
	if (yaml.length > MAX_FRONT_MATTER) return broken(`the front matter is longer than ${MAX_FRONT_MATTER} characters`);
	if (normalised.includes("\0")) return broken("the file contains NUL bytes: it is not a text file");
	const parsed = parseLeniently(yaml);
	if ("error" in parsed) {
		const { error, offset } = parsed;
		const line = offset === undefined ? "" : ` (line ${normalised.slice(0, start + offset).split("\n").length})`;
		return broken(`the front matter is not valid YAML: ${error}${line}`);
	}
	return { kind: "fields", ...parsed, body: normalised.slice(closing.lastIndex).trim() };
}

interface YamlError {
	readonly error: string;
	/** Where in the YAML, in characters, if that is known. */
	readonly offset?: number;
}

type Parsed = { readonly fields: ReadonlyMap<string, unknown> } | YamlError;

/** YAML as written; if that fails, once more with the values quoted that people tend to leave bare. */
function parseLeniently(yaml: string): { fields: ReadonlyMap<string, unknown>; repaired: string[] } | YamlError {
	const parsed = parseYaml(yaml);
	if ("fields" in parsed) return { ...parsed, repaired: [] };
	const repaired: string[] = [];
	const quoted = yaml.replace(BARE_VALUE, (line, field: string, rest: string) => {
		const value = rest.trimEnd();
		// `*` alone means "all" to people and an alias to YAML; a text with `: ` in it reads as a nested mapping.
		if (value !== "*" && !/:(?:\s|$)/.test(value)) return line;
		if (value !== "*") repaired.push(field);
		return `${field}: ${JSON.stringify(value)}`;
	});
	const again = quoted === yaml ? parsed : parseYaml(quoted);
	return "fields" in again ? { ...again, repaired } : parsed;
}

/** A top-level field with its plain value on the same line. */
const BARE_VALUE = /^([\w-]+):[ \t]+([^\s"'[{|>&!%@`#][^\n]*)$/gm;

function parseYaml(yaml: string): Parsed {
	try {
		const document = parseDocument(yaml, { schema: "core", customTags: [], logLevel: "silent", prettyErrors: false });
		// A warning here is a tag that only its author's program understands.
		const complaint = document.errors[0] ?? document.warnings[0];
		if (complaint) return { error: oneLine(complaint.message), offset: complaint.pos[0] };
		// Maps, so that no key can mean anything to an object.
		const data: unknown = document.toJS({ maxAliasCount: MAX_ALIASES, mapAsMap: true });
		const fields = new Map<string, unknown>();
		if (data instanceof Map) for (const [key, value] of data) if (typeof key === "string") fields.set(key, value);
		return { fields };
	} catch (error) {
		// Too many aliases, or nested deeper than the parser can follow.
		return { error: oneLine(error instanceof Error ? error.message : String(error)) };
	}
}
