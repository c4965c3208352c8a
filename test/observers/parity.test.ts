import { readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { createAgentSession, SessionManager } from "@earendil-works/pi-coding-agent";
import { afterEach, describe, expect, test, vi } from "vitest";
import type { AgentEventSource, ChildEvent } from "../../src/events/agent-event.ts";
import {
	AgentRecord,
	type CompactionInfo,
	createActivity,
	subscribeRecordObserver,
	subscribeUIObserver,
} from "../../src/observers/index.ts";
import { ManagedProcessFactory, OutputHandlerRegistry } from "../../src/process/index.ts";
import { newRunId } from "../../src/records/run-id.ts";
import { piEventsHandlerFactory } from "../../src/runtimes/pi/events-handler.ts";
import { startPiAttempt } from "../../src/runtimes/pi/pi-attempt.ts";
import { packageFiles } from "../../src/settings/package-files.ts";
import { type AgentDirectory, createAgentDirectory } from "../../support/agent-directory.ts";
import { startModelServer } from "../../support/model-server.ts";
import { PI_CLI } from "../../support/run-pi.ts";
import { COMPACTING_SETTINGS, SMALL_MODELS, WORK, WORK_COUNTERS, WORK_TOOLS } from "./scripted-work.ts";

const TASK = "Do the scripted work";
/** What a child's task is given as. */
const PROMPT = `Task: ${TASK}`;

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
	vi.unstubAllEnvs();
	for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

/** Does the scripted work while both observers watch, and says what they saw and what the server served. */
async function observe(work: (directory: AgentDirectory, watch: (source: AgentEventSource) => void) => Promise<void>) {
	const server = await startModelServer(WORK);
	cleanups.push(() => server.stop());
	const directory = await createAgentDirectory({
		modelServerUrl: server.url,
		models: SMALL_MODELS,
		settings: COMPACTING_SETTINGS,
	});
	cleanups.push(() => directory.cleanup());
	const record = new AgentRecord(newRunId());
	const activity = createActivity();
	const compactions: CompactionInfo[] = [];
	let updates = 0;
	const unsubscribes: (() => void)[] = [];
	await work(directory, (source) => {
		unsubscribes.push(
			subscribeRecordObserver(source, record, { onCompact: (_record, info) => compactions.push(info) }),
			subscribeUIObserver(source, activity, () => updates++),
		);
	});
	// The last update may still be due.
	await sleep(100);
	for (const unsubscribe of unsubscribes) unsubscribe();
	expect(server.unexpected()).toEqual([]);
	expect(readFileSync(join(directory.cwd, "done.txt"), "utf8")).toBe("x\n".repeat(500));
	expect(updates).toBeGreaterThan(0);
	return {
		served: server.served(),
		usage: record.lifetimeUsage,
		perTurn: record.perTurn,
		counters: {
			toolUses: record.toolUses,
			toolErrors: record.toolErrors,
			toolCounts: Object.fromEntries(record.toolCounts),
			turns: record.turns,
			retries: record.retries,
			compactionCount: record.compactionCount,
		},
		compactions,
		activity: {
			phase: activity.phase,
			activeTools: activity.activeTools.size,
			text: activity.text,
			// Calls of one turn end in any order.
			recentTools: activity.recentTools
				.map(({ name, args, isError }) => JSON.stringify({ name, args, isError }))
				.sort(),
		},
	};
}

/** The real pi as a child in RPC mode. */
async function inChild(directory: AgentDirectory, watch: (source: AgentEventSource) => void): Promise<void> {
	const registry = new OutputHandlerRegistry<ChildEvent>();
	registry.registerFactory(piEventsHandlerFactory);
	const runId = newRunId();
	const attempt = startPiAttempt(
		{
			runId,
			task: TASK,
			cwd: directory.cwd,
			program: { command: process.execPath, args: [PI_CLI], foundBy: "override", version: undefined },
			env: directory.env,
			child: {
				sessionDir: join(directory.agentDir, "sessions"),
				sessionId: runId,
				name: "parity",
				projectTrusted: false,
				model: "mock/m1",
				thinking: "off",
				tools: WORK_TOOLS,
				extensions: "none",
				childExtension: packageFiles().childExtension,
				systemPromptFile: undefined,
			},
		},
		new ManagedProcessFactory(registry),
	);
	watch(attempt.process.bus);
	const { outcome } = await attempt.finished;
	expect(outcome).toMatchObject({ status: "completed", exitPath: "done", answer: "All done." });
}

/** A session of pi's SDK in this process. */
async function inProcess(directory: AgentDirectory, watch: (source: AgentEventSource) => void): Promise<void> {
	for (const [name, value] of Object.entries(directory.env)) vi.stubEnv(name, value);
	const { session } = await createAgentSession({
		cwd: directory.cwd,
		agentDir: directory.agentDir,
		tools: WORK_TOOLS,
		sessionManager: SessionManager.inMemory(directory.cwd),
	});
	try {
		watch(session);
		await session.prompt(PROMPT);
		await session.waitForIdle();
		expect(session.getLastAssistantText()).toBe("All done.");
	} finally {
		session.dispose();
	}
}

describe.each([
	["a real child", inChild],
	["a session in this process", inProcess],
] as const)("observers on %s", (_what, work) => {
	test("count what the model server served", async () => {
		const seen = await observe(work);

		expect(seen.counters).toEqual(WORK_COUNTERS);
		const { input, output, cacheRead, cost } = seen.usage;
		expect({ input, output, cacheRead }).toEqual({
			input: seen.served.input,
			output: seen.served.output,
			cacheRead: seen.served.cacheRead,
		});
		expect(cost.total).toBeCloseTo(seen.served.cost ?? Number.NaN, 10);
		expect(seen.served).toMatchObject({ input: 24_500, output: 660, cacheRead: 1000 });
		expect(seen.compactions).toEqual([{ reason: "threshold", tokensBefore: expect.any(Number) }]);
		expect(seen.compactions[0]?.tokensBefore).toBeGreaterThan(16_000);
		expect(seen.activity).toMatchObject({ phase: "settled", activeTools: 0, text: "All done." });
	});
});

test("observers see the same in both", async () => {
	const child = await observe(inChild);
	const session = await observe(inProcess);

	expect(child).toEqual(session);
	expect(child.activity.recentTools).toHaveLength(4);
});
