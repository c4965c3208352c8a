import { createReadStream } from "node:fs";
import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import type { AgentDefinition, AgentProblem, AgentSource } from "./agent-definition.ts";
import { oneLine } from "./one-line.ts";
import { parseAgentFile } from "./parse-agent-file.ts";

/** What a folder of agent files holds. */
export interface AgentFolder {
	/** By file name. Each name occurs once. */
	readonly agents: readonly AgentDefinition[];
	readonly problems: readonly AgentProblem[];
}

const MAX_FILE_BYTES = 256 * 1024;

/** Far more than anyone keeps; a folder above it is something else. */
const MAX_FILES = 1000;

/**
 * Reads the `*.md` files of one folder, not of those below it. A missing folder is an empty one; what can't be read is
 * a problem, not an error. Rejects only when aborted.
 */
export async function readAgentFolder(dir: string, source: AgentSource, signal?: AbortSignal): Promise<AgentFolder> {
	const agents = new Map<string, AgentDefinition>();
	const problems: AgentProblem[] = [];
	const names = await listMarkdown(dir, problems);
	for (const name of names.slice(0, MAX_FILES)) {
		signal?.throwIfAborted();
		const file = join(dir, name);
		const read = await readAgentFile(file);
		if (read.kind === "problem") problems.push({ file, message: read.message });
		if (read.kind !== "text") continue;
		const parsed = parseAgentFile(read.text, file, source);
		if (parsed.kind === "invalid") problems.push(parsed.problem);
		if (parsed.kind !== "agent") continue;
		const { definition } = parsed;
		const first = agents.get(definition.name);
		if (first) {
			const message = `not used: \`${definition.name}\` is defined by ${first.file} already`;
			problems.push({ file, field: "name", message });
		} else {
			agents.set(definition.name, definition);
		}
	}
	if (names.length > MAX_FILES) {
		problems.push({ file: dir, message: `only the first ${MAX_FILES} of ${names.length} files are read` });
	}
	return { agents: [...agents.values()], problems };
}

/** Hidden files are left out: editors and archivers keep locks and metadata under such names. */
async function listMarkdown(dir: string, problems: AgentProblem[]): Promise<string[]> {
	try {
		const names = await readdir(dir);
		return names.filter((name) => name.endsWith(".md") && !name.startsWith(".")).sort();
	} catch (error) {
		if (!isMissing(error)) problems.push({ file: dir, message: `can't read the folder: ${reasonOf(error)}` });
		return [];
	}
}

type ReadFile =
	| { readonly kind: "text"; readonly text: string }
	| { readonly kind: "problem"; readonly message: string }
	| { readonly kind: "folder" };

async function readAgentFile(file: string): Promise<ReadFile> {
	const tooLarge = { kind: "problem", message: `larger than ${MAX_FILE_BYTES / 1024} KiB` } as const;
	try {
		// Asked before it is opened: to open a named pipe would wait for its writer.
		const stats = await stat(file);
		if (stats.isDirectory()) return { kind: "folder" };
		if (!stats.isFile()) return { kind: "problem", message: "not a regular file" };
		if (stats.size > MAX_FILE_BYTES) return tooLarge;
		// Bounded again while reading, as some files grow and some never tell their size.
		const chunks: Buffer[] = [];
		for await (const chunk of createReadStream(file, { end: MAX_FILE_BYTES })) chunks.push(chunk);
		const bytes = Buffer.concat(chunks);
		return bytes.length > MAX_FILE_BYTES ? tooLarge : { kind: "text", text: decode(bytes) };
	} catch (error) {
		return { kind: "problem", message: `can't read the file: ${reasonOf(error)}` };
	}
}

/** UTF-8, or the UTF-16 that some Windows programs write and mark as such. */
function decode(bytes: Buffer): string {
	const mark = bytes.subarray(0, 2).toString("hex");
	const encoding = mark === "fffe" ? "utf-16le" : mark === "feff" ? "utf-16be" : "utf-8";
	return new TextDecoder(encoding, { fatal: true }).decode(bytes);
}

function isMissing(error: unknown): boolean {
	return error instanceof Error && "code" in error && error.code === "ENOENT";
}

function reasonOf(error: unknown): string {
	return oneLine(error instanceof Error ? error.message : String(error));
}
