import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import {
	type AgentDirectory,
	type AgentDirectoryOptions,
	createAgentDirectory,
} from "../../support/agent-directory.ts";
import { assistantMessages } from "../../support/pi-records.ts";
import { runPi } from "../../support/run-pi.ts";

let directory: AgentDirectory | undefined;

afterEach(async () => {
	await directory?.cleanup();
});

async function create(options?: AgentDirectoryOptions): Promise<AgentDirectory> {
	directory = await createAgentDirectory(options);
	return directory;
}

function readJson(path: string): unknown {
	return JSON.parse(readFileSync(path, "utf8"));
}

test("settings are laid over the defaults one level deep", async () => {
	const { agentDir } = await create({ settings: { retry: { maxRetries: 1 }, compaction: { enabled: false } } });

	expect(readJson(join(agentDir, "settings.json"))).toMatchObject({
		defaultProvider: "mock",
		defaultModel: "m1",
		retry: { maxRetries: 1, baseDelayMs: 50 },
		compaction: { enabled: false },
	});
});

test("the environment is complete and holds nothing of the caller's pi", async () => {
	process.env.PI_FLIGHTDECK_PROBE = "1";
	const { env, agentDir } = await create();
	delete process.env.PI_FLIGHTDECK_PROBE;

	expect(env).toMatchObject({ PATH: process.env.PATH, PI_CODING_AGENT_DIR: agentDir, PI_OFFLINE: "1" });
	expect(env).not.toHaveProperty("PI_FLIGHTDECK_PROBE");
	expect(env.HOME).not.toBe(process.env.HOME);
});

test("pi knows the scripted models and no others", async () => {
	const run = await runPi({ ...(await create()), args: ["--list-models"] });

	const rows = run.stdout.trim().split("\n").slice(1);
	expect(rows.map((row) => row.split(/\s+/).slice(0, 2))).toEqual([
		["mock", "m1"],
		["mock", "m2"],
	]);
});

test("without a model server the connection is refused, quickly", async () => {
	const run = await runPi({ ...(await create()), args: ["--mode", "json", "-ne", "hello"] });

	expect(assistantMessages(run.records).map(({ stopReason }) => stopReason)).toEqual(Array(4).fill("error"));
});

test("pi writes into the folder only, and cleanup removes it", async () => {
	const { agentDir, cwd, cleanup, env } = await create();
	await runPi({ args: ["--mode", "json", "-ne", "hello"], env, cwd });
	expect(readdirSync(agentDir)).toContain("sessions");
	expect(readdirSync(cwd)).toEqual([]);

	await cleanup();

	expect(existsSync(agentDir)).toBe(false);
	expect(existsSync(cwd)).toBe(false);
});
