import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { formatRoster } from "../../src/agents/agent-roster.ts";
import { discoverAgents } from "../../src/agents/discover-agents.ts";

const builtinDir = join(import.meta.dirname, "../../agents");
const { agents, problems } = await discoverAgents({ builtinDir, userDir: join(builtinDir, "missing") });

test("every file in the folder is an agent without a blemish", async () => {
	expect(problems).toEqual([]);
	expect(agents.flatMap((agent) => agent.warnings)).toEqual([]);
	expect(agents.map((agent) => `${agent.name}.md`)).toEqual((await readdir(builtinDir)).sort());
	expect(agents.map((agent) => agent.name)).toEqual(["planner", "reviewer", "scout", "worker"]);
});

test.each(agents)("$name is short and leaves the model to the user", (agent) => {
	expect(agent.description.length).toBeLessThanOrEqual(80);
	expect(Buffer.byteLength(agent.systemPrompt)).toBeLessThan(1200);
	expect(agent.systemPrompt).not.toBe("");
	expect(agent.model).toBeUndefined();
	expect(agent.thinking).toBeUndefined();
	expect(agent.extensions).toBeUndefined();
});

test.each([
	["scout", ["read", "grep", "find", "ls", "bash"]],
	["planner", ["read", "grep", "find", "ls", "bash"]],
	["reviewer", ["read", "grep", "find", "ls", "bash"]],
	["worker", undefined],
])("%s has the tools for its work", (name, tools) => {
	expect(agents.find((agent) => agent.name === name)?.tools).toEqual(tools);
});

test("their descriptions fit whole into the roster", () => {
	const roster = formatRoster(agents);
	expect(roster).not.toContain("…");
	for (const { description } of agents) expect(roster).toContain(description);
});
