import { chmod, mkdir, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { AgentRecord } from "../../src/observers/agent-record.ts";
import { RunRecord, storedPath } from "../../src/records/run-record.ts";
import { createEventSource } from "../observers/event-source.ts";
import { tempFolder } from "../support/temp-folder.ts";
import { attempt, description, RUN_ID } from "./descriptions.ts";

const SECRET = "a-very-secret-value";
const ENV = { MY_API_KEY: SECRET };

async function open(flightdeckDir: string, task = "Look around") {
	const record = new AgentRecord(RUN_ID);
	const run = await RunRecord.open({ flightdeckDir, env: ENV }, record, description({ task }));
	return { record, run };
}

async function finish({ record, run }: Awaited<ReturnType<typeof open>>, answer: string | null = "The answer.") {
	record.markEnded("completed");
	await run.finish({ exitPath: "done", reason: "", warnings: ["w"], answer, attempt: attempt() });
}

async function json(path: string): Promise<Record<string, unknown>> {
	return JSON.parse(await readFile(path, "utf8"));
}

async function journalOf(path: string): Promise<Record<string, unknown>[]> {
	return (await readFile(path, "utf8"))
		.trimEnd()
		.split("\n")
		.map((line) => JSON.parse(line));
}

describe("a run record", () => {
	test("is there before the run starts", async () => {
		await using folder = await tempFolder();
		const { run } = await open(folder.path);
		expect(await json(run.paths.manifest)).toMatchObject({
			version: 1,
			runId: RUN_ID,
			status: "starting",
			exitPath: null,
			completedAt: null,
			task: "Look around",
			attempts: [],
			recordComplete: true,
			usage: { known: false },
		});
		await finish({ record: new AgentRecord(RUN_ID), run });
		const [first] = await journalOf(run.paths.journal);
		expect(first).toMatchObject({ type: "run-start", runId: RUN_ID, environment: null, meta: { taskBytes: 11 } });
		// The task is in the manifest; its hash says which.
		expect(first).not.toHaveProperty("task");
	});

	test("has everything when the run has ended", async () => {
		await using folder = await tempFolder();
		const opened = await open(folder.path);
		const { run, record } = opened;
		record.turns = 2;
		record.toolCounts.set("read", 3);
		record.noteTurn({ turn: 1, in: 5, out: 6 });
		await finish(opened);

		await run.makeWorkFolder("You help.");

		expect((await readdir(run.paths.root)).sort()).toEqual([
			"events.jsonl",
			"result-1.md",
			"run.json",
			"session",
			"summary.md",
			"system-prompt.md",
		]);
		expect(await readFile(run.paths.result(1), "utf8")).toBe("The answer.");
		expect(await readFile(run.paths.summary, "utf8")).toContain("# scout: completed");
		expect(await json(run.paths.manifest)).toMatchObject({
			status: "completed",
			exitPath: "done",
			warnings: ["w"],
			completedAt: expect.any(String),
			counters: { turns: 2 },
			attempts: [{ number: 1, exit: { code: 0 } }],
			recordComplete: true,
		});
		const last = (await journalOf(run.paths.journal)).at(-1);
		expect(last).toMatchObject({
			type: "run-end",
			exitPath: "done",
			status: "completed",
			warnings: ["w"],
			turnsUsed: 2,
			// Nothing told the cost.
			cost: null,
			perTurn: [{ turn: 1, in: 5, out: 6 }],
			toolCounts: { read: 3 },
			exitCode: 0,
			signal: null,
			forcedExit: false,
			leftovers: [],
		});
		expect(run.problem).toBeUndefined();
	});

	test.runIf(process.platform !== "win32")("is for its owner alone", async () => {
		await using folder = await tempFolder();
		const opened = await open(join(folder.path, "deck"));
		await finish(opened);
		const { root } = opened.run.paths;
		const { sessionDir } = await opened.run.makeWorkFolder("");
		const mode = async (path: string) => (await stat(path)).mode & 0o777;
		for (const path of [join(root, ".."), root, sessionDir]) expect(await mode(path)).toBe(0o700);
		for (const name of ["run.json", "events.jsonl", "summary.md", "result-1.md"])
			expect(await mode(join(root, name))).toBe(0o600);
	});

	test("holds no secret anywhere", async () => {
		await using folder = await tempFolder();
		const opened = await open(folder.path, `use ${SECRET}`);
		const { source, emit } = createEventSource();
		opened.run.observe(source);
		emit({ type: "extension_error", error: SECRET });
		opened.run.noteStopRequest(SECRET);
		opened.record.markEnded("failed");
		await opened.run.finish({
			exitPath: "crashed",
			reason: SECRET,
			warnings: [SECRET],
			answer: `it is ${SECRET}`,
			attempt: attempt(),
		});
		const files = (await readdir(opened.run.paths.root)).filter((name) => name !== "session");
		expect(files).toHaveLength(4);
		for (const name of files) {
			const text = await readFile(join(opened.run.paths.root, name), "utf8");
			expect(text).not.toContain(SECRET);
			expect(text).toContain("[redacted]");
		}
	});

	test("never overwrites a result", async () => {
		await using folder = await tempFolder();
		const opened = await open(folder.path);
		await writeFile(opened.run.paths.result(1), "the first");
		await finish(opened, "another");
		expect(await readFile(opened.run.paths.result(1), "utf8")).toBe("the first");
		expect(opened.run.problem).toMatch(/EEXIST/);
		expect(await json(opened.run.paths.manifest)).toMatchObject({ status: "completed", recordComplete: false });
	});

	test("without an answer has no result", async () => {
		await using folder = await tempFolder();
		const opened = await open(folder.path);
		await finish(opened, null);
		expect(await readdir(opened.run.paths.root)).not.toContain("result-1.md");
		expect(opened.run.problem).toBeUndefined();
	});
});

describe("the journal of a run", () => {
	test("keeps events as they came, of repetitions the fact, and no deltas", async () => {
		await using folder = await tempFolder();
		const opened = await open(folder.path);
		const { source, emit, listeners } = createEventSource();
		const unsubscribe = opened.run.observe(source);
		emit({ type: "agent_start" });
		emit({ type: "message_update", assistantMessageEvent: { type: "text_delta", delta: "x" } });
		emit({ type: "message_start", message: { role: "assistant" } });
		emit({ type: "message_end", message: { role: "assistant", content: [] } });
		emit({ type: "tool_execution_update", toolCallId: "1", toolName: "bash" });
		emit({ type: "turn_end", message: { role: "assistant" }, toolResults: [] });
		emit({ type: "agent_end", messages: [{}], willRetry: false });
		emit({ type: "response", success: true });
		opened.run.noteLifecycle({ type: "exit", ts: "2026-01-01T00:00:00.000Z", pid: 7, code: 0, signal: null });
		opened.run.noteStopRequest("by the user");
		unsubscribe();
		expect(listeners()).toBe(0);
		await finish(opened);

		const entries = await journalOf(opened.run.paths.journal);
		expect(entries.map(({ ts: _ts, ...entry }) => entry).slice(1, -1)).toEqual([
			{ type: "agent_start" },
			{ type: "message_end", message: { role: "assistant", content: [] } },
			{ type: "turn_end" },
			{ type: "agent_end" },
			{ type: "process-exit", pid: 7, code: 0, signal: null },
			{ type: "stop-request", reason: "by the user" },
		]);
	});
});

describe("a disk that fails costs the record and not the run:", () => {
	async function live(flightdeckDir: string) {
		const opened = await open(flightdeckDir);
		await opened.run.update(attempt({ exit: null }));
		opened.run.noteStopRequest("x");
		await finish(opened);
		return opened.run;
	}

	test("the folder for records is a file", async () => {
		await using folder = await tempFolder();
		const file = join(folder.path, "deck");
		await writeFile(file, "precious");
		const run = await live(file);
		expect(run.problem).toMatch(/ENOTDIR|EEXIST|ENOENT/);
		expect(await readFile(file, "utf8")).toBe("precious");
	});

	test("the folder for records is below a file", async () => {
		await using folder = await tempFolder();
		await writeFile(join(folder.path, "file"), "");
		expect((await live(join(folder.path, "file", "deck"))).problem).toMatch(/ENOTDIR|ENOENT|EEXIST/);
	});

	test.runIf(process.platform !== "win32")("it is read-only", async () => {
		await using folder = await tempFolder();
		await chmod(folder.path, 0o500);
		// Root writes into any folder, but not there.
		const place = process.getuid?.() === 0 ? "/sys/flightdeck" : folder.path;
		expect((await live(place)).problem).toMatch(/EACCES|EPERM|EROFS/);
		await chmod(folder.path, 0o700);
	});

	test("the folder of the run goes away in the middle", async () => {
		await using folder = await tempFolder();
		const opened = await open(folder.path);
		await rm(opened.run.paths.root, { recursive: true });
		await finish(opened);
		expect(opened.run.problem).toMatch(/deleted/);
		// F15: what was known in the end is there all the same.
		expect(await json(opened.run.paths.manifest)).toMatchObject({ status: "completed", recordComplete: false });
		expect(await readFile(opened.run.paths.result(1), "utf8")).toBe("The answer.");
	});

	test("the journal cannot be written, and the manifest says so", async () => {
		await using folder = await tempFolder();
		const paths = (await open(join(folder.path, "other"))).run.paths;
		const root = paths.root.replace(join(folder.path, "other"), join(folder.path, "deck"));
		await mkdir(join(root, "events.jsonl"), { recursive: true });
		const run = await live(join(folder.path, "deck"));
		expect(run.problem).toMatch(/EISDIR|EPERM|EACCES/);
		expect(await json(run.paths.manifest)).toMatchObject({ status: "completed", recordComplete: false });
		expect(await readFile(run.paths.result(1), "utf8")).toBe("The answer.");
		expect(await readFile(run.paths.summary, "utf8")).toContain("The disk failed");
	});
});

test("the path of a session file is relative in the record and absolute elsewhere", async () => {
	await using folder = await tempFolder();
	const { paths } = (await open(folder.path)).run;
	expect(storedPath(paths, join(paths.root, "session", "a.jsonl"))).toBe(join("session", "a.jsonl"));
	expect(storedPath(paths, "/elsewhere/a.jsonl")).toBe("/elsewhere/a.jsonl");
	expect(storedPath(paths, undefined)).toBeNull();
});
