import { describe, expect, test } from "vitest";
import { decidePiOutcome } from "../../../src/runtimes/pi/pi-outcome.ts";
import { expectedOf, type Replay, recordingNames, replay, stderrOf } from "../../support/recordings.ts";
import { facts as attemptFacts } from "./facts.ts";

/** A process cannot end itself by a signal there: its code is 1. */
const hasSignals = process.platform !== "win32";

/** How each recording ends for somebody who did not stop it, thought through from its command, exit and terminal event. */
const EXIT_PATHS: Readonly<Record<string, readonly [status: string, exitPath: string]>> = {
	// Ended from outside in the middle of the run: codes 129 and 143 are caught signals.
	"abort-sighup-in-bash": ["failed", "crashed"],
	"abort-sigint-in-bash": ["failed", "crashed"],
	"abort-sigint-in-stream": ["failed", "crashed"],
	"abort-sigkill-in-bash": ["failed", "crashed"],
	"abort-sigkill-in-stream": ["failed", "crashed"],
	"abort-sigkill-partial-line": ["failed", "crashed"],
	"abort-sigterm-in-bash": ["failed", "crashed"],
	"abort-sigterm-in-stream": ["failed", "crashed"],
	"abort-sigterm-slow-reader": ["failed", "crashed"],
	// Exit code 1 before any record.
	"bad-extension": ["failed", "spawn-failed"],
	"bad-flag": ["failed", "spawn-failed"],
	"bash-10mb": ["completed", "done"],
	"bash-5mb-single-line": ["completed", "done"],
	// A compaction that fails does not end the run.
	"compaction-fails": ["completed", "done"],
	"compaction-threshold": ["completed", "done"],
	// An empty answer is an answer, with a warning.
	"empty-answer": ["completed", "done"],
	"extension-dialog-json": ["completed", "done"],
	"extension-error": ["completed", "done"],
	"long-text-100kb": ["completed", "done"],
	// Exit code 0, a header and nothing else: nobody said that it was over.
	"no-prompt": ["failed", "incomplete"],
	"no-session": ["completed", "done"],
	"parallel-tool-calls": ["completed", "done"],
	// pi's exit code is 0 in all of these.
	"provider-400-bad-request": ["failed", "provider-error"],
	"provider-401": ["failed", "provider-error"],
	"provider-429-then-ok": ["completed", "done"],
	"provider-500-after-tool": ["completed", "done"],
	"provider-500-exhausted": ["failed", "provider-error"],
	"provider-conn-refused": ["failed", "provider-error"],
	"provider-eof-without-finish": ["completed", "done"],
	// A cut answer is an answer, with a warning.
	"provider-length-stop": ["completed", "done"],
	"provider-midstream-disconnect-always": ["failed", "provider-error"],
	"provider-midstream-disconnect-then-ok": ["completed", "done"],
	"provider-overflow-error": ["failed", "provider-error"],
	"provider-quota-429": ["failed", "provider-error"],
	"resume-after-sigkill": ["completed", "done"],
	"resume-after-sigterm": ["completed", "done"],
	// Its first prompt was aborted, its second answered: the last one counts.
	"rpc-abort-in-bash": ["completed", "done"],
	// It settled as aborted, and nobody here asked for that.
	"rpc-abort-in-stream": ["failed", "incomplete"],
	"rpc-bash-exclude": ["completed", "done"],
	"rpc-basic": ["completed", "done"],
	"rpc-errors": ["failed", "provider-error"],
	"rpc-extension-dialog": ["completed", "done"],
	"rpc-steer-followup": ["completed", "done"],
	"rpc-usage-mix": ["completed", "done"],
	"simple-answer": ["completed", "done"],
	"tool-errors": ["completed", "done"],
	"tools-read-bash-edit-write": ["completed", "done"],
	"two-prompts": ["completed", "done"],
	unicode: ["completed", "done"],
	// pi warns and asks the provider, which answers 404.
	"unknown-model": ["failed", "provider-error"],
};

const WARNINGS: Readonly<Record<string, readonly (string | RegExp)[]>> = {
	"abort-sigkill-partial-line": [/^Output that was no record: 1 line, the first: \{"type":"message_update"/],
	"empty-answer": ["The answer is empty."],
	"provider-length-stop": ["The answer was cut at the token limit."],
	"unknown-model": [/^pi warned: Model "zzz" not found for provider "mock"/],
	"rpc-extension-dialog": [
		/^Extension error: \/workspace\/\.lab\/ext-dialog\.ts \(turn_end\): turn_end boom/,
		/^Extension error: \/workspace\/\.lab\/ext-dialog\.ts \(turn_end\): turn_end boom/,
	],
};

function decide({ facts, outcome }: Replay, stop?: { reason: string }) {
	return decidePiOutcome(attemptFacts({ stream: facts, process: outcome, stop }));
}

/** In the words of `expected.json`. */
function summarize(run: Replay) {
	const { facts, record, outcome, askedSessionId } = run;
	const { input, output, cacheRead, cacheWrite } = record.lifetimeUsage;
	const { answer } = decide(run);
	return {
		sessionId: facts.sessionId ?? askedSessionId ?? null,
		terminalEvent: facts.settled !== undefined,
		aborted: facts.settled?.aborted ?? false,
		lastStopReason: facts.lastAssistant?.stopReason ?? null,
		errorMessage: facts.lastAssistant?.errorMessage !== undefined,
		toolExecutions: record.toolUses,
		toolErrors: record.toolErrors,
		turns: record.turns,
		retries: record.retries,
		compactions: record.compactionCount,
		usage: { input, output, cacheRead, cacheWrite },
		answer: answer === null ? null : { length: answer.length, head: answer.slice(0, 60) },
		exitCode: outcome.code,
		signal: outcome.signal,
		unparsableLines: facts.noiseLines,
	};
}

test("there is a verdict for every recording", () => {
	expect(Object.keys(EXIT_PATHS).sort()).toEqual(recordingNames);
	expect(recordingNames).toHaveLength(50);
});

describe.each(recordingNames)("%s", (recording) => {
	const { cost, ...expected } = expectedOf(recording);
	const end = hasSignals ? {} : { exitCode: expected.exitCode ?? 1, signal: null };

	test.each([
		["whole", undefined],
		["cut, seed 1", 1],
		["cut, seed 20260713", 20_260_713],
	])("%s", async (_how, seed) => {
		const run = await replay(recording, seed);

		expect(summarize(run)).toEqual({ ...expected, ...end });
		expect(run.record.lifetimeUsage.cost.total).toBeCloseTo(cost, 10);
		expect(run.outcome.stderrTail).toBe(stderrOf(recording));
		expect(run.facts.malformedRecords).toBe(0);

		const { status, exitPath, reason, warnings } = decide(run);
		expect([status, exitPath]).toEqual(EXIT_PATHS[recording]);
		expect(reason === "").toBe(status === "completed");
		expect(warnings).toEqual((WARNINGS[recording] ?? []).map((text) => expectMatching(text)));

		// What we stopped is stopped, whatever it said.
		expect(decide(run, { reason: "by the user" })).toMatchObject({ status: "stopped", reason: "by the user" });
	});
});

function expectMatching(text: string | RegExp): unknown {
	return typeof text === "string" ? text : expect.stringMatching(text);
}

test("cut recordings do arrive in pieces", async () => {
	const [whole, cut] = await Promise.all([replay("unicode"), replay("unicode", 1)]);

	expect(cut.chunks).toBeGreaterThan(whole.chunks);
});
