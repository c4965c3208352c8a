import { chmod, mkdir, readFile, writeFile } from "node:fs/promises";
import { delimiter, join } from "node:path";
import { expect, test } from "vitest";
import { flightdeck } from "../support/e2e-command.ts";
import { onlyResult, runParent } from "../support/e2e-parent.ts";
import { expectEnded, onlyRun } from "../support/e2e-records.ts";
import { agentFile, child, createScene, parent, type Scene } from "../support/e2e-scene.ts";

/** Writes the environment that it finds when it is loaded. */
const ENV_EXTENSION = `
import { writeFileSync } from "node:fs";
export default () => writeFileSync("env.json", JSON.stringify(process.env));`;

async function childEnvironment({ cwd }: Scene): Promise<NodeJS.ProcessEnv> {
	return JSON.parse(await readFile(join(cwd, "env.json"), "utf8"));
}

test("A26: the child's environment: marker, depth, pi's folder, and nothing that describes the parent's session", async () => {
	const scene = await createScene([parent({ agent: "special", task: "Go" }), child([{ text: "done" }])], {
		agents: { "special.md": agentFile({ extensions: "./env.ts" }), "env.ts": ENV_EXTENSION },
	});
	const stale = { PI_SESSION_ID: "s", PI_SESSION_FILE: "f", PI_PROVIDER: "p", PI_MODEL: "m", PI_REASONING_LEVEL: "r" };

	await runParent(scene, { env: { ...stale, PI_CREW_DEPTH: "1", KEPT: "as it is" } });

	const stored = await onlyRun(scene);
	await expectEnded(stored, { status: "completed", exitPath: "done" });
	const env = await childEnvironment(scene);
	expect(env).toMatchObject({
		PI_FLIGHTDECK_RUN: stored.manifest.runId,
		PI_FLIGHTDECK_DEPTH: "2",
		PI_CODING_AGENT_DIR: scene.agentDir,
		PI_SKIP_VERSION_CHECK: "1",
		KEPT: "as it is",
	});
	for (const name of Object.keys(stale)) expect(env).not.toHaveProperty(name);
	expect(stored.manifest.meta.depth).toBe(2);
});

test.each([
	{ programs: [], offline: undefined },
	{ programs: ["rg"], offline: undefined },
	{ programs: ["rg", "fd"], offline: "1" },
])("pi is told to stay offline only when it needs to fetch nothing: $programs", async ({ programs, offline }) => {
	const scene = await createScene([]);
	const bin = join(scene.cwd, "bin");
	await mkdir(bin);
	for (const name of programs) {
		await writeFile(join(bin, name), "#!/bin/sh\n");
		await chmod(join(bin, name), 0o755);
	}
	// In place of pi, which would go to the network without that variable.
	const pi = join(scene.cwd, "pi.mjs");
	await writeFile(
		pi,
		'import { writeFileSync } from "node:fs"; writeFileSync("env.json", JSON.stringify(process.env)); process.exit(1);',
	);

	const run = await flightdeck(scene, ["run", "--pi", pi, "worker", "Go"], {
		env: { PATH: [bin, "/nowhere"].join(delimiter), PI_OFFLINE: undefined },
	});

	expect(run.code).toBe(1);
	expect((await childEnvironment(scene)).PI_OFFLINE).toBe(offline);
});

function childTools({ server }: Scene): readonly string[] | undefined {
	return server.requests().find(({ conversation }) => conversation === "child")?.toolNames;
}

test("a child has the parent's tools, but for `subagent`", async () => {
	const scene = await createScene([parent({ task: "Go" }), child([{ text: "done" }])]);
	await runParent(scene);

	expect(scene.server.requests()[0]?.toolNames).toContain("subagent");
	expect(childTools(scene)?.toSorted()).toEqual(["bash", "edit", "read", "write"]);
});

test("a parent with few tools gives no others", async () => {
	const scene = await createScene([parent({ task: "Go" }), child([{ text: "done" }])]);

	await runParent(scene, { args: ["--tools", "read,subagent"] });

	expect(childTools(scene)).toEqual(["read"]);
	const stored = await onlyRun(scene);
	await expectEnded(stored, { status: "completed", exitPath: "done" });
	expect(stored.manifest.meta.tools).toEqual(["read"]);
});

test("an agent that lists more than the parent has gets what both have, with a warning", async () => {
	const scene = await createScene([parent({ agent: "special", task: "Go" }), child([{ text: "done" }])], {
		agents: { "special.md": agentFile({ tools: "bash, read" }) },
	});

	const result = onlyResult((await runParent(scene, { args: ["--tools", "read,subagent"] })).results);

	expect(childTools(scene)).toEqual(["read"]);
	expect(result.isError).toBe(false);
	expect(result.text).toMatch(/Warning: .*bash/);
	expect((await onlyRun(scene)).manifest.warnings).toEqual([expect.stringContaining("bash")]);
});

test("an agent's own list, and none at all", async () => {
	const scene = await createScene(
		[
			parent([
				{ agent: "reader", task: "READ" },
				{ agent: "thinker", task: "THINK" },
			]),
			child([{ text: "read" }], "READ"),
			child([{ text: "thought" }], "THINK"),
		],
		{ agents: { "reader.md": agentFile({ tools: "read, grep" }), "thinker.md": agentFile({ tools: "none" }) } },
	);

	const run = await runParent(scene, { args: ["--tools", "read,grep,bash,subagent"] });

	expect(run.results.map(({ isError }) => isError)).toEqual([false, false]);
	const tools = Object.fromEntries(
		scene.server.requests().map(({ conversation, toolNames }) => [conversation, toolNames.toSorted()]),
	);
	expect(tools).toMatchObject({ "child READ": ["grep", "read"], "child THINK": [] });
	expect(scene.server.unexpected()).toEqual([]);
});

test("model and thinking level: the call's go before the agent's, and those before the parent's", async () => {
	const scene = await createScene(
		[
			parent({ agent: "special", task: "OF-AGENT" }, { agent: "special", task: "OF-CALL", model: "mock/m1" }),
			child([{ text: "1" }], "OF-AGENT"),
			child([{ text: "2" }], "OF-CALL"),
		],
		{ agents: { "special.md": agentFile({ model: "mock/m2" }) } },
	);

	await runParent(scene);

	const models = scene.server.requests().filter(({ conversation }) => conversation !== "parent");
	expect(models.map(({ body }) => body.model)).toEqual(["m2", "m1"]);
	expect(scene.server.unexpected()).toEqual([]);
});
