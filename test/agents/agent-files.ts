import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { AgentDefinition } from "../../src/agents/agent-definition.ts";

/** A complete definition. */
export function agent(overrides: Partial<AgentDefinition> = {}): AgentDefinition {
	const name = overrides.name ?? "scout";
	return {
		name,
		description: "Looks around",
		source: "user",
		file: `/agents/${name}.md`,
		systemPrompt: "Look around.",
		warnings: [],
		...overrides,
	};
}

/** The text of an agent file with these lines of front matter. */
export function agentText(fields: string, body = "Do it."): string {
	return `---\n${fields}\n---\n${body}\n`;
}

/** A folder tree of its own: files by relative path. It is removed with `await using`. */
export async function folderWith(files: Readonly<Record<string, string | Uint8Array>>) {
	const root = await mkdtemp(join(tmpdir(), "flightdeck-agents-"));
	for (const [path, content] of Object.entries(files)) {
		await mkdir(dirname(join(root, path)), { recursive: true });
		await writeFile(join(root, path), content);
	}
	return { root, [Symbol.asyncDispose]: () => rm(root, { recursive: true, force: true }) };
}
