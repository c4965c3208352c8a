import { describe, expect, test } from "vitest";
import { formatSummary } from "../../src/records/summary.ts";
import { attempt, manifest } from "./descriptions.ts";

/** What stands under a heading. */
function section(summary: string, title: string): string | undefined {
	const parts = summary.split(/^## (.*)$/m);
	const at = parts.indexOf(title);
	return at === -1 ? undefined : parts[at + 1]?.trim();
}

/** The cells of the second column by those of the first. */
function rows(text: string | undefined): Record<string, string> {
	const cells = (text ?? "").split("\n").map((line) => line.split(/(?<!\\)\|/).map((cell) => cell.trim()));
	return Object.fromEntries(
		cells.filter(({ length }) => length === 4).map(([, name = "", value = ""]) => [name, value]),
	);
}

describe("a summary", () => {
	test("has a title and its sections in order; nothing went wrong", () => {
		const summary = formatSummary(manifest(), "The answer.");
		expect(summary.startsWith("# scout: completed\n\n")).toBe(true);
		expect([...summary.matchAll(/^## (.*)$/gm)].map(([, title]) => title)).toEqual([
			"Run",
			"Environment",
			"Run stats",
			"Task",
			"Result",
		]);
		expect(section(summary, "Task")).toBe("```\nLook around\n```");
		expect(section(summary, "Result")).toBe("```\nThe answer.\n```");
	});

	test("tells numbers for people", () => {
		expect(rows(section(formatSummary(manifest(), "x"), "Run stats"))).toMatchObject({
			Duration: "4.1s",
			Turns: "2",
			"Tool calls": "3, 1 error",
			Tokens: "12.3k in, 67 out, 0 cache read, 0 cache write",
			Cost: "$0.0123",
		});
	});

	test("does not call unknown usage 0", () => {
		const usage = { ...manifest().usage, known: false };
		const stats = rows(section(formatSummary(manifest({ usage }), "x"), "Run stats"));
		expect(stats["Tokens and cost"]).toBe("unknown");
		expect(stats).not.toHaveProperty("Cost");
	});

	test("names the model that answered before the one that was asked for", () => {
		const model = (overrides: Parameters<typeof manifest>[0]) =>
			rows(section(formatSummary(manifest(overrides), "x"), "Environment")).Model;
		expect(model({})).toBe("mock/m2 (via parent)");
		expect(model({ attempts: [attempt({ model: null })] })).toBe("mock/m1 (via parent)");
		expect(model({ attempts: [] })).toBe("mock/m1 (via parent)");
	});
});

describe("foreign text", () => {
	test.each([
		["none", "plain", "```"],
		["a fence", "```\ncode\n```\n# Not a heading", "````"],
		["a long fence", "a ```````` b", "`````````"],
		["one backtick", "`x`", "```"],
	])("with %s is fenced by more", (_what, text, fence) => {
		for (const summary of [formatSummary(manifest(), text), formatSummary(manifest({ task: text }), "x")])
			expect(summary).toContain(`\n\n${fence}\n${text}\n${fence}\n`);
	});

	test("with bars and line ends stays in its cell", () => {
		const agent = { name: "scout", source: "user", file: "/a|b\n| Status | forged |" };
		const summary = formatSummary(manifest({ agent, cwd: "/c|d" }), "x");
		const run = rows(section(summary, "Run"));
		expect(run.Agent).toBe("scout (user: /a\\|b \\| Status \\| forged \\|)");
		expect(run.Status).toBe("completed (done)");
		expect(rows(section(summary, "Environment"))["Working directory"]).toBe("/c\\|d");
	});

	test("that is long is cut at a whole character, and the summary says where the rest is", () => {
		const task = `${"t".repeat(3999)}\u{1f600}more`;
		const answer = "r".repeat(20_001);
		const summary = formatSummary(manifest({ task }), answer);
		expect(section(summary, "Task")).toMatch(/The first 4000 of 4005 characters; the whole is in run\.json\.$/);
		expect(section(summary, "Result")).toMatch(/The first 20000 of 20001 characters; the whole is in result-1\.md\.$/);
		expect(summary.isWellFormed()).toBe(true);
		expect(summary.length).toBeLessThan(26_000);
	});
});

describe("what went wrong", () => {
	const wrong = (overrides: Parameters<typeof manifest>[0], answer: string | null = null) =>
		section(formatSummary(manifest(overrides), answer), "What went wrong");

	test("is the reason, the warnings and the end of stderr", () => {
		const failed = attempt();
		const exit = failed.exit && { ...failed.exit, code: 1, stderrTail: "boom\n```\n" };
		const text = wrong({
			status: "failed",
			exitPath: "crashed",
			reason: "pi ended",
			warnings: ["one", "two"],
			attempts: [attempt({ exit })],
		});
		expect(text).toBe("Reason: pi ended\n- one\n- two\nThe end of stderr:\n\n````\nboom\n```\n````");
	});

	test("is said of a stop, without stderr", () => {
		const stopped = attempt();
		const exit = stopped.exit && { ...stopped.exit, stderrTail: "noise" };
		expect(
			wrong({ status: "stopped", exitPath: "stopped", reason: "by the user", attempts: [attempt({ exit })] }),
		).toBe("Stopped: by the user");
	});

	test("is that the disk failed", () => {
		expect(wrong({ recordComplete: false }, "x")).toBe("- The disk failed: this record is incomplete.");
	});

	test("is told of a run that never had an attempt", () => {
		const summary = formatSummary(
			manifest({ status: "failed", exitPath: "spawn-failed", reason: "EACCES", attempts: [], completedAt: null }),
			null,
		);
		expect(section(summary, "Result")).toBe("No answer.");
		expect(rows(section(summary, "Run stats")).Duration).toBe("running");
		expect(section(summary, "What went wrong")).toBe("Reason: EACCES");
	});
});
