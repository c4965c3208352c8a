import { expect, test } from "vitest";
import { viewRun } from "../../src/extension/run-view.ts";
import { AgentRecord, createActivity } from "../../src/observers/index.ts";

const about = { agent: "worker", model: "mock/m1", recordDir: "/records/1" };
const long = "界👩‍👩‍👧‍👦 \u001b[31m\n".repeat(20_000);

test("what is stored with a tool result is at most 32 KB, whatever the child says", () => {
	const record = new AgentRecord("run");
	const activity = createActivity();
	activity.text = long;
	for (let i = 0; i < 20; i++)
		activity.recentTools.push({ name: "bash", args: { command: long }, startedAt: 0, isError: i % 2 === 0 });
	record.markEnded("failed");
	const view = viewRun(record, activity, about, {
		status: "failed",
		exitPath: "provider-error",
		answer: long,
		reason: long,
		warnings: Array.from({ length: 500 }, () => long),
	});
	expect(Buffer.byteLength(JSON.stringify(view))).toBeLessThanOrEqual(32 * 1024);
});

test("a running view says what the child does; an ended one does not", () => {
	const record = new AgentRecord("run");
	const activity = createActivity();
	activity.activeTools.set("1", { name: "bash", args: { command: "npm test" }, startedAt: 0 });
	expect(viewRun(record, activity, about)).toMatchObject({ status: "starting", doing: "bash npm test", answer: "" });
	record.markEnded("completed");
	const outcome = { status: "completed", exitPath: "done", answer: "42", reason: "", warnings: [] } as const;
	expect(viewRun(record, activity, about, outcome)).toMatchObject({ status: "completed", doing: "", answer: "42" });
});
