import { existsSync, realpathSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { flightdeck } from "../support/e2e-command.ts";
import { fencedOutput, onlyResult, runParent } from "../support/e2e-parent.ts";
import { expectEnded, onlyRun, runIdsIn } from "../support/e2e-records.ts";
import { agentFile, child, createScene, parent } from "../support/e2e-scene.ts";

const AGENTS = {
	"good.md": agentFile({ name: "good", description: "Works" }, "You are the good one."),
	"broken.md": agentFile({ name: "broken", thinking: "sideways" }),
};

test("a broken file is skipped with a warning, and the others work", async () => {
	const scene = await createScene([parent({ agent: "good", task: "Go" }), child([{ text: "good" }])], {
		agents: AGENTS,
	});

	const run = await runParent(scene);

	expect(run.stderr).toContain(`${join(scene.agentDir, "agents", "broken.md")}: \`thinking\` must be one of`);
	expect(fencedOutput(onlyResult(run.results).text)).toBe("good");
	const stored = await onlyRun(scene);
	await expectEnded(stored, { status: "completed", exitPath: "done" });
	expect(stored.manifest.agent).toEqual({
		name: "good",
		source: "user",
		file: join(scene.agentDir, "agents", "good.md"),
	});
	const requests = scene.server.requests();
	expect(requests.find(({ conversation }) => conversation === "child")?.systemText).toContain("You are the good one.");
	const roster = JSON.stringify(requests.find(({ conversation }) => conversation === "parent")?.body.tools);
	expect(roster).toContain("good");
	expect(roster).not.toContain("broken");
	expect(scene.server.unexpected()).toEqual([]);
});

test("asking for the broken one says why it is not there", async () => {
	const scene = await createScene([parent({ agent: "broken", task: "Go" })], { agents: AGENTS });

	const result = onlyResult((await runParent(scene)).results);

	expect(result.isError).toBe(true);
	expect(result.text).toContain('Unknown agent "broken"');
	expect(result.text).toContain(`Skipped ${join(scene.agentDir, "agents", "broken.md")}: \`thinking\``);
	expect(await runIdsIn(scene.agentDir)).toEqual([]);
});

test("the command says the same, and exits with 2", async () => {
	const scene = await createScene([], { agents: AGENTS });

	const run = await flightdeck(scene, ["run", "broken", "Go"]);

	expect(run).toMatchObject({ code: 2, stdout: "" });
	expect(run.stderr).toContain('Unknown agent "broken"');
	expect(run.stderr).toContain("`thinking` must be one of");
});

test("a file that is repaired while pi runs is used at once", async () => {
	const scene = await createScene(
		[
			parent({ task: "MEND" }, { agent: "broken", task: "LATER" }),
			child(
				[
					{
						toolCalls: [
							{ name: "bash", args: { command: 'sed -i.bak s/sideways/low/ "$PI_CODING_AGENT_DIR/agents/broken.md"' } },
						],
					},
					{ text: "mended" },
				],
				"MEND",
			),
			child([{ text: "works" }], "LATER"),
		],
		{ agents: AGENTS },
	);

	const { results } = await runParent(scene);

	expect(results.map(({ text }) => fencedOutput(text))).toEqual(["mended", "works"]);
	expect(scene.server.unexpected()).toEqual([]);
});

const PROJECT = { ".pi/agents/local.md": agentFile({ name: "local" }, "You are the project's.") };

test("a trusted project's agents can be used", async () => {
	const scene = await createScene([parent({ agent: "local", task: "Go" }), child([{ text: "local" }])], {
		files: PROJECT,
	});

	const run = await runParent(scene, { args: ["--approve"] });

	expect(fencedOutput(onlyResult(run.results).text)).toBe("local");
	const { manifest } = await onlyRun(scene);
	expect(manifest.agent).toMatchObject({ name: "local", source: "project" });
	expect(scene.server.unexpected()).toEqual([]);
});

test("an untrusted project's agents do not exist", async () => {
	const scene = await createScene([parent({ agent: "local", task: "Go" })], { files: PROJECT });

	const run = await runParent(scene, { args: ["--no-approve"] });

	const result = onlyResult(run.results);
	expect(result.isError).toBe(true);
	expect(result.text).toContain('Unknown agent "local"');
	expect(JSON.stringify(scene.server.requests()[0]?.body.tools)).not.toContain("local");
	expect(await runIdsIn(scene.agentDir)).toEqual([]);
});

test("H2: a project with nothing but agents was never asked about, and is not trusted for that", async () => {
	const scene = await createScene([parent({ agent: "local", task: "Go" })], { files: PROJECT });

	const run = await runParent(scene);

	expect(onlyResult(run.results).text).toContain('Unknown agent "local"');
	expect(run.stderr).toContain("not read, since nobody has said that the project is trusted");
	expect(await runIdsIn(scene.agentDir)).toEqual([]);
});

test("a saved decision for the project, or pi's setting to trust all, is enough", async () => {
	for (const [file, content] of [
		["trust.json", (cwd: string) => ({ [cwd]: true })],
		["settings.json", () => ({ defaultProjectTrust: "always", defaultProvider: "mock", defaultModel: "m1" })],
	] as const) {
		const scene = await createScene([parent({ agent: "local", task: "Go" }), child([{ text: "local" }])], {
			files: PROJECT,
		});
		await writeFile(join(scene.agentDir, file), JSON.stringify(content(realpathSync(scene.cwd))));

		const run = await runParent(scene);

		expect(fencedOutput(onlyResult(run.results).text)).toBe("local");
	}
});

/** Leaves a file where it is loaded. */
const TRACE = `
import { writeFileSync } from "node:fs";
export default () => writeFileSync("loaded-" + (process.env.PI_FLIGHTDECK_RUN ? "in-child" : "in-parent"), "");`;

test.each([
	["--approve", true],
	["--no-approve", false],
] as const)("an agent that inherits extensions gets the project's with %s: %s", async (flag, expected) => {
	const scene = await createScene([parent({ agent: "heir", task: "Go" }), child([{ text: "done" }])], {
		agents: { "heir.md": agentFile({ extensions: "inherit" }) },
		files: { ".pi/extensions/trace.ts": TRACE },
	});

	const run = await runParent(scene, { args: [flag] });

	expect(fencedOutput(onlyResult(run.results).text)).toBe("done");
	expect(existsSync(join(scene.cwd, "loaded-in-child"))).toBe(expected);
	expect(existsSync(join(scene.cwd, "loaded-in-parent"))).toBe(false);
});

test("the command trusts a project only with --approve", async () => {
	const scene = await createScene([child([{ text: "local" }])], { files: PROJECT });

	const refused = await flightdeck(scene, ["run", "local", "Go"]);
	const accepted = await flightdeck(scene, ["run", "--approve", "local", "Go"]);

	expect(refused.code).toBe(2);
	expect(refused.stderr).toContain('Unknown agent "local"');
	expect(accepted).toMatchObject({ code: 0, stdout: "local\n" });
});
