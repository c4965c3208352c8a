import { describe, expect, test } from "vitest";
import { decidePiOutcome, describeExit, type PiAttemptFacts } from "../../../src/runtimes/pi/pi-outcome.ts";
import { assistant, ended, facts, stream } from "./facts.ts";

const unsettled = stream({ settled: undefined });
const notStarted = stream({ started: false, settled: undefined, lastAssistant: undefined, lastText: "" });
const failed = (errorMessage: string, rawStopReason?: string) =>
	stream({ lastAssistant: assistant({ stopReason: "error", errorMessage, rawStopReason, text: "" }) });
const stop = { reason: "stopped by the user" };

type Verdict = [status: string, exitPath: string, reason: string, answer: string | null];

describe("the verdict", () => {
	test.each<[string, Partial<PiAttemptFacts>, Verdict]>([
		["answered", {}, ["completed", "done", "", "The answer."]],
		[
			"answered, and had to be killed afterwards",
			{ process: ended({ code: null, signal: "SIGKILL", forcedExit: true, stopReason: "done, but did not exit" }) },
			["completed", "done", "", "The answer."],
		],
		["answered, and exited with an error", { process: ended({ code: 1 }) }, ["completed", "done", "", "The answer."]],
		[
			"cut at the token limit",
			{ stream: stream({ lastAssistant: assistant({ stopReason: "length" }) }) },
			["completed", "done", "", "The answer."],
		],
		["empty", { stream: stream({ lastAssistant: assistant({ text: "" }) }) }, ["completed", "done", "", null]],
		[
			"could not be spawned",
			{ process: ended({ code: null, spawnError: "EACCES" }), stream: notStarted },
			["failed", "spawn-failed", "pi could not be started: EACCES", null],
		],
		[
			"could not be spawned, and a stop was asked for",
			{ process: ended({ code: null, spawnError: "EACCES" }), stream: notStarted, stop },
			["failed", "spawn-failed", "pi could not be started: EACCES", null],
		],
		["stopped, and answered all the same", { stop }, ["stopped", "stopped", "stopped by the user", "The answer."]],
		[
			"stopped in the middle",
			{ stop, stream: unsettled, process: ended({ code: 143 }) },
			["stopped", "stopped", "stopped by the user", "The answer."],
		],
		[
			"stopped, and settled as aborted",
			{
				stop,
				stream: stream({
					settled: { aborted: true },
					lastAssistant: assistant({ stopReason: "aborted", errorMessage: "x" }),
				}),
			},
			["stopped", "stopped", "stopped by the user", null],
		],
		["refused the prompt", { promptError: "no model", stream: notStarted }, ["failed", "refused", "no model", null]],
		[
			"an extension took the prompt",
			{ promptHandled: true, stream: notStarted },
			["failed", "refused", "An extension of the child took the task for a command of its own; no model saw it.", null],
		],
		[
			"B11: ended early with code 0",
			{ stream: notStarted },
			["failed", "incomplete", "pi ended before the run was over (exit code 0) and said nothing on stderr", null],
		],
		[
			"ended early with code 0 in the middle",
			{ stream: unsettled },
			[
				"failed",
				"incomplete",
				"pi ended before the run was over (exit code 0) and said nothing on stderr",
				"The answer.",
			],
		],
		[
			"C10: never began",
			{ stream: notStarted, process: ended({ code: 1, stderrTail: "Error: Unknown option\n" }) },
			["failed", "spawn-failed", "pi ended before it began (exit code 1): Error: Unknown option", null],
		],
		[
			"never began, and spoke on stdout only",
			{ stream: { ...notStarted, noiseLines: 1, noiseSample: "usage: pi" }, process: ended({ code: 2 }) },
			["failed", "spawn-failed", "pi ended before it began (exit code 2): usage: pi", null],
		],
		[
			"A9: killed in the middle",
			{
				stream: stream({ settled: undefined, lastAssistant: undefined }),
				process: ended({ code: null, signal: "SIGKILL" }),
			},
			["failed", "crashed", "pi ended in the middle of the run (signal SIGKILL) and said nothing on stderr", null],
		],
		[
			"A9: ran out of memory",
			{
				stream: stream({ settled: undefined, lastAssistant: undefined }),
				process: ended({ code: 134, stderrTail: "FATAL: JavaScript heap out of memory" }),
			},
			[
				"failed",
				"crashed",
				"pi ended in the middle of the run (exit code 134, after SIGABRT): FATAL: JavaScript heap out of memory It ran out of memory.",
				null,
			],
		],
		[
			"no exit code and no last word",
			{ stream: stream({ settled: undefined, lastAssistant: undefined }), process: ended({ code: null }) },
			["failed", "crashed", "pi ended in the middle of the run (no exit code) and said nothing on stderr", null],
		],
		[
			"aborted by an extension",
			{ stream: stream({ settled: { aborted: true }, lastAssistant: assistant({ stopReason: "aborted" }) }) },
			["failed", "incomplete", "The child gave up its run: one of its extensions aborted it.", null],
		],
		["the provider failed", { stream: failed("401: key") }, ["failed", "provider-error", "401: key", null]],
		["filtered", { stream: failed("blocked", "content_filter") }, ["failed", "refused", "blocked", null]],
		["a refusal", { stream: failed("I won't", "refusal") }, ["failed", "refused", "I won't", null]],
		[
			"settled without any answer",
			{ stream: stream({ lastAssistant: undefined }) },
			["failed", "incomplete", "The run ended without an answer of the model.", null],
		],
		[
			"settled with a tool call as its last message",
			{ stream: stream({ lastAssistant: assistant({ stopReason: "toolUse" }) }) },
			["failed", "incomplete", "The run ended without an answer of the model.", null],
		],
	])("%s", (_what, given, verdict) => {
		const { status, exitPath, reason, answer } = decidePiOutcome(facts(given));
		expect([status, exitPath, reason, answer]).toEqual(verdict);
	});

	test("quotes the end of a long stderr, never half a character", () => {
		const stderrTail = `${"\u{1f600}".repeat(600)}x`;
		const { reason } = decidePiOutcome(facts({ stream: notStarted, process: ended({ code: 1, stderrTail }) }));
		expect(reason.length).toBeLessThan(1100);
		expect(reason.isWellFormed()).toBe(true);
		expect(reason.endsWith("\u{1f600}x")).toBe(true);
	});
});

describe("warnings", () => {
	test.each<[string, Partial<PiAttemptFacts>, string[]]>([
		["none", {}, []],
		["an empty answer", { stream: stream({ lastAssistant: assistant({ text: " \n" }) }) }, ["The answer is empty."]],
		[
			"no empty answer when it was never finished",
			{ stream: stream({ settled: undefined, lastAssistant: assistant({ text: "" }) }) },
			[],
		],
		[
			"a cut answer",
			{ stream: stream({ lastAssistant: assistant({ stopReason: "length" }) }) },
			["The answer was cut at the token limit."],
		],
		[
			"noise",
			{ stream: stream({ noiseLines: 2, noiseSample: "npm warn" }) },
			["Output that was no record: 2 lines, the first: npm warn"],
		],
		["malformed records", { stream: stream({ malformedRecords: 3 }) }, ["Records of an unknown shape: 3 lines."]],
		["extensions", { stream: stream({ extensionErrors: ["a: b"] }) }, ["Extension error: a: b"]],
		["dialogs", { deniedDialogs: ["Sure?"] }, ["Denied, since nobody could be asked: Sure?"]],
		["leftovers", { process: ended({ leftovers: [7, 8] }) }, ["Left running: pid 7, 8."]],
		[
			"a forced exit after the last word",
			{ process: ended({ forcedExit: true }) },
			["The child had to be ended after its work was done."],
		],
		["not of a forced exit before it", { process: ended({ forcedExit: true }), stream: unsettled, stop }, []],
	])("of %s", (_what, given, warnings) => {
		expect(decidePiOutcome(facts(given)).warnings).toEqual(warnings);
	});
});

test.each<[number | null, NodeJS.Signals | null, string]>([
	[0, null, "exit code 0"],
	[1, null, "exit code 1"],
	[128, null, "exit code 128"],
	[129, null, "exit code 129, after SIGHUP"],
	[143, null, "exit code 143, after SIGTERM"],
	[255, null, "exit code 255"],
	[null, "SIGKILL", "signal SIGKILL"],
	[null, null, "no exit code"],
])("code %s and signal %s is %j", (code, signal, expected) => {
	expect(describeExit({ code, signal })).toBe(expected);
});
