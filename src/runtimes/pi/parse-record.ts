/** One line of a child, read as a record: a JSON object that says its type. */
export type ParsedRecord =
	| { readonly kind: "record"; readonly record: JsonRecord }
	| { readonly kind: "blank" }
	/** Not JSON, or JSON that is no record: chatter, or a line cut by a crash. */
	| { readonly kind: "noise" };

export interface JsonRecord {
	readonly type: string;
	readonly [key: string]: unknown;
}

/** What may stand before a record and is no part of it: byte order mark, NULs, terminal control sequences. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is looked for
const LEADING_JUNK = /^(?:\uFEFF|\0|\u001B\[[0-9;?]*[ -/]*[@-~])+/;
const TRAILING_NULS = /\0+$/;

/** Reads a line of JSONL forgivingly: junk around a record is dropped, and a record after other text is found. */
export function parseRecord(line: string): ParsedRecord {
	const direct = tryParse(line);
	if (direct) return { kind: "record", record: direct };
	const text = line.replace(LEADING_JUNK, "").replace(TRAILING_NULS, "");
	if (text.trim() === "") return { kind: "blank" };
	const start = text.indexOf('{"type":"');
	const record = tryParse(start > 0 ? text.slice(start) : text);
	return record ? { kind: "record", record } : { kind: "noise" };
}

function tryParse(text: string): JsonRecord | undefined {
	if (!text.includes("{")) return undefined;
	try {
		const value: unknown = JSON.parse(text);
		return isRecord(value) ? value : undefined;
	} catch {
		// Not JSON is an answer here: the caller counts it as noise.
		return undefined;
	}
}

function isRecord(value: unknown): value is JsonRecord {
	return typeof value === "object" && value !== null && "type" in value && typeof value.type === "string";
}
