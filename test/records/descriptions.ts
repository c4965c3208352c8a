import type { RunAttempt, RunManifest } from "../../src/records/run-manifest.ts";
import type { RunDescription } from "../../src/records/run-record.ts";

export const RUN_ID = "01900000-0000-7000-8000-0000deadbeef";

/** A run as it is known before it starts. */
export function description(overrides: Partial<RunDescription> = {}): RunDescription {
	return {
		owner: { host: "here", bootId: "boot", pid: 1, startTime: "1" },
		agent: { name: "scout", source: "builtin", file: "/agents/scout.md" },
		runtime: "pi",
		task: "Look around",
		cwd: "/work",
		meta: {
			startedBy: "tool",
			flightdeck: { version: "1.2.3", path: "/flightdeck" },
			node: "v24.0.0",
			platform: "linux-x64",
			pi: { version: "1.6.0", command: ["pi"], foundBy: "running" },
			model: { id: "mock/m1", source: "parent" },
			thinking: { level: null, source: "default" },
			tools: null,
			depth: 1,
			parentRunId: null,
			parentSessionId: null,
			taskBytes: 11,
			taskSha256: "0",
		},
		...overrides,
	};
}

export function attempt(overrides: Partial<RunAttempt> = {}): RunAttempt {
	return {
		number: 1,
		sessionId: RUN_ID,
		sessionFile: null,
		pid: 7,
		startTime: "1",
		bootId: "boot",
		model: "mock/m2",
		exit: {
			code: 0,
			signal: null,
			stopReason: null,
			forced: false,
			streams: "closed",
			leftovers: [],
			stderrTail: "",
		},
		...overrides,
	};
}

/** The manifest of a run that went well. */
export function manifest(overrides: Partial<RunManifest> = {}): RunManifest {
	return {
		version: 1,
		runId: RUN_ID,
		...description(),
		status: "completed",
		exitPath: "done",
		reason: "",
		warnings: [],
		createdAt: "2026-01-02T03:04:05.000Z",
		completedAt: "2026-01-02T03:04:09.100Z",
		usage: {
			input: 12_345,
			output: 67,
			cacheRead: 0,
			cacheWrite: 0,
			cost: { input: 0.01, output: 0.0023, cacheRead: 0, cacheWrite: 0, total: 0.0123 },
			known: true,
		},
		counters: { turns: 2, toolUses: 3, toolErrors: 1, retries: 0, compactions: 0 },
		attempts: [attempt()],
		recordComplete: true,
		...overrides,
	};
}
