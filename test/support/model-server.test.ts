import { afterEach, expect, test } from "vitest";
import { type AgentDirectory, createAgentDirectory } from "../../support/agent-directory.ts";
import type { ModelScript } from "../../support/model-script.ts";
import { type ModelServer, startModelServer } from "../../support/model-server.ts";
import { assistantMessages, sumUsage, textOf, toolResults } from "../../support/pi-records.ts";
import { type PiRun, type RunPiOptions, runPi } from "../../support/run-pi.ts";

const cleanups: (() => Promise<void>)[] = [];

afterEach(async () => {
	for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

async function setUp(script: ModelScript): Promise<{ server: ModelServer; directory: AgentDirectory }> {
	const server = await startModelServer(script);
	cleanups.push(() => server.stop());
	const directory = await createAgentDirectory({ modelServerUrl: server.url });
	cleanups.push(() => directory.cleanup());
	return { server, directory };
}

function runJson(directory: AgentDirectory, prompt: string, options: Partial<RunPiOptions> = {}): Promise<PiRun> {
	return runPi({ args: ["--mode", "json", "-ne", prompt], env: directory.env, cwd: directory.cwd, ...options });
}

async function runScript(script: ModelScript, prompt = "Say something"): Promise<{ server: ModelServer; run: PiRun }> {
	const { server, directory } = await setUp(script);
	const run = await runJson(directory, prompt);
	expect(run).toMatchObject({ code: 0, timedOut: false, otherLines: [], stderr: "" });
	return { server, run };
}

function expectSameTotals(server: ModelServer, run: PiRun): void {
	const { cost, ...tokens } = sumUsage(run.records);
	const { cost: servedCost, ...servedTokens } = server.served();
	expect(tokens).toEqual(servedTokens);
	expect(cost).toBeCloseTo(servedCost ?? Number.NaN, 12);
}

test("a text answer with its usage, cached tokens apart", async () => {
	const { server, run } = await runScript([{ text: "Hello", usage: { input: 700, output: 12, cacheRead: 300 } }]);

	expect(assistantMessages(run.records)).toMatchObject([
		{
			content: [{ type: "text", text: "Hello" }],
			stopReason: "stop",
			usage: { input: 700, output: 12, cacheRead: 300 },
		},
	]);
	expect(server.served()).toMatchObject({ input: 700, output: 12, cacheRead: 300 });
	expectSameTotals(server, run);
});

test("the record of a request", async () => {
	const { server } = await runScript([{ text: "Hello" }], "Say grüezi");

	expect(server.requests()).toMatchObject([
		{
			index: 0,
			conversation: "script",
			turn: 0,
			answer: { text: "Hello" },
			outcome: "answered",
			usage: { input: 100, output: 10, cacheRead: 0 },
			userText: "Say grüezi",
			toolNames: ["read", "bash", "edit", "write"],
		},
	]);
	const [request] = server.requests();
	expect(request?.systemText).toContain("tools");
	expect(request?.body).not.toHaveProperty("_context");
	expect(request?.bytes).toBe(Buffer.byteLength(JSON.stringify(request?.body)));
});

test("several tool calls in one message", async () => {
	const { server, run } = await runScript([
		{
			text: "Two commands:",
			toolCalls: [
				{ name: "bash", args: { command: "echo one" } },
				{ name: "bash", args: { command: "echo 'zwölf'" }, id: "call_second" },
			],
			usage: { input: 1000, output: 50 },
		},
		{ text: "Done", usage: { input: 20, output: 3, cacheRead: 1000 } },
	]);

	expect(toolResults(run.records).map((result) => textOf(result).trim())).toEqual(["one", "zwölf"]);
	expect(toolResults(run.records)[1]?.toolCallId).toBe("call_second");
	expect(assistantMessages(run.records).map(({ stopReason }) => stopReason)).toEqual(["toolUse", "stop"]);
	expectSameTotals(server, run);
});

test("a tool call with malformed arguments", async () => {
	const { run } = await runScript([{ toolCalls: [{ name: "bash", args: '{"command": ' }] }, { text: "Never mind" }]);

	expect(toolResults(run.records)).toMatchObject([{ toolName: "bash", isError: true }]);
	expect(assistantMessages(run.records).map(textOf)).toEqual(["", "Never mind"]);
});

test.each([
	[401, { error: { message: "Incorrect API key provided", type: "invalid_request_error", code: "invalid_api_key" } }],
	[400, { error: { message: "Invalid schema", type: "invalid_request_error" } }],
	[
		429,
		{ error: { message: "You exceeded your current quota", type: "insufficient_quota", code: "insufficient_quota" } },
	],
])("status %i with a body is not retried", async (status, body) => {
	const { server, run } = await runScript([{ status, body }]);

	const [message] = assistantMessages(run.records);
	expect(message?.stopReason).toBe("error");
	expect(message?.errorMessage).toContain(String(status));
	expect(message?.errorMessage).toContain(body.error.message);
	expect(server.requests()).toMatchObject([{ outcome: "answered", usage: undefined }]);
	expect(server.served()).toEqual({ input: 0, output: 0, cacheRead: 0, cost: 0 });
});

test("status 500 twice, then an answer", async () => {
	const { server, run } = await runScript([{ status: 500, times: 2 }, { text: "Third time lucky" }]);

	expect(assistantMessages(run.records).map(({ stopReason }) => stopReason)).toEqual(["error", "error", "stop"]);
	expect(run.records.filter(({ type }) => type === "auto_retry_start")).toMatchObject([
		{ delayMs: 50 },
		{ delayMs: 100 },
	]);
	expect(server.requests().map(({ turn }) => turn)).toEqual([0, 1, 2]);
	expectSameTotals(server, run);
});

test("an empty answer", async () => {
	const { server, run } = await runScript([{ text: "", usage: { input: 9, output: 0 } }]);

	expect(assistantMessages(run.records)).toMatchObject([{ content: [], stopReason: "stop" }]);
	expectSameTotals(server, run);
});

test("an answer cut at the token limit", async () => {
	const { server, run } = await runScript([{ text: "Once upon a", finishReason: "length" }]);

	expect(assistantMessages(run.records)).toMatchObject([{ stopReason: "length" }]);
	expectSameTotals(server, run);
});

test("a slow stream arrives piece by piece", async () => {
	const { run } = await runScript([{ text: "abcdefghij", chunkCharacters: 1, chunkDelayMs: 20 }]);

	const deltas = run.records.flatMap((record) =>
		record.type === "message_update" && record.assistantMessageEvent.type === "text_delta"
			? [record.assistantMessageEvent.delta]
			: [],
	);
	expect(deltas).toEqual([..."abcdefghij"]);
	expect(run.durationMs).toBeGreaterThan(200);
});

test("a connection cut in the middle of a stream, then an answer", async () => {
	const { server, run } = await runScript([
		{ text: "This will never be finished", chunkCharacters: 5, disconnectAfter: 10, usage: { input: 500, output: 50 } },
		{ text: "This will", usage: { input: 600, output: 4 } },
	]);

	expect(assistantMessages(run.records).map(textOf)).toEqual(["This will ", "This will"]);
	expect(assistantMessages(run.records).map(({ stopReason }) => stopReason)).toEqual(["error", "stop"]);
	expect(server.requests().map(({ outcome }) => outcome)).toEqual(["disconnected", "answered"]);
	expectSameTotals(server, run);
});

test("a very long answer", async () => {
	const text = "0123456789abcdef".repeat(65_536);
	const { server, run } = await runScript([{ text, chunkCharacters: 16_384 }]);

	expect(assistantMessages(run.records).map((message) => textOf(message) === text)).toEqual([true]);
	expectSameTotals(server, run);
});

test("text beyond ASCII, with raw line separators and pairs split between pieces", async () => {
	const text = "Zürich\u2028日本語\u2029👩‍🚀\u0085end";
	const { run } = await runScript([{ text, chunkCharacters: 1 }]);

	expect(assistantMessages(run.records).map(textOf)).toEqual([text]);
	expect(run.stdout).toContain("\u2028");
});

test("two conversations at once, told apart by their user text", async () => {
	const { server, directory } = await setUp({
		conversations: [
			{
				when: "ALPHA",
				answers: [
					{ toolCalls: [{ name: "bash", args: { command: "echo from-a" } }], usage: { input: 10, output: 1 } },
					{ text: "A is done", usage: { input: 20, output: 2 } },
				],
			},
			{
				name: "beta",
				when: ({ userText, body }) => userText.includes("BETA") && body.model === "m2",
				answers: [
					{ toolCalls: [{ name: "bash", args: { command: "echo from-b" } }], usage: { input: 100, output: 10 } },
					{ text: "B is done", usage: { input: 200, output: 20 } },
				],
			},
		],
	});

	const [a, b] = await Promise.all([
		runJson(directory, "Task ALPHA"),
		runPi({ ...directory, args: ["--mode", "json", "-ne", "--model", "mock/m2", "Task BETA"] }),
	]);

	expect(assistantMessages(a.records).map(textOf)).toEqual(["", "A is done"]);
	expect(assistantMessages(b.records).map(textOf)).toEqual(["", "B is done"]);
	expect(sumUsage(a.records)).toMatchObject({ input: 30, output: 3 });
	expect(sumUsage(b.records)).toMatchObject({ input: 300, output: 30 });
	expect(server.served()).toMatchObject({ input: 330, output: 33 });
	expect(server.served().cost).toBeCloseTo(sumUsage(a.records).cost + sumUsage(b.records).cost, 12);
	expect(server.requests().filter(({ conversation }) => conversation === "ALPHA")).toHaveLength(2);
	expect(server.requests().filter(({ conversation }) => conversation === "beta")).toHaveLength(2);
	expect(server.unexpected()).toEqual([]);
});

test("a function decides each answer", async () => {
	const { server, run } = await runScript(({ body }, turn) =>
		turn === 0
			? { toolCalls: [{ name: "bash", args: { command: "echo 42" } }] }
			: { text: `I saw ${JSON.stringify(body.messages.at(-1)?.content)}` },
	);

	expect(assistantMessages(run.records).map(textOf).at(-1)).toContain("42");
	expect(server.unexpected()).toEqual([]);
});

test("a request that matches no conversation is refused and reported", async () => {
	const { server, run } = await runScript(
		{ conversations: [{ when: "ALPHA", answers: [{ text: "A" }] }] },
		"Task GAMMA",
	);

	expect(assistantMessages(run.records)).toMatchObject([
		{ stopReason: "error", errorMessage: expect.stringContaining("no conversation matches") },
	]);
	expect(server.requests()).toMatchObject([{ conversation: undefined, answer: undefined }]);
	expect(server.unexpected()).toEqual([
		'no conversation matches a request for m1 with 2 messages and user text "Task GAMMA"; known: "ALPHA"',
	]);
});

test("a request after the last answer is refused and reported", async () => {
	const { server, run } = await runScript([{ toolCalls: [{ name: "bash", args: { command: "true" } }] }]);

	expect(assistantMessages(run.records).at(-1)?.errorMessage).toContain("no answer left");
	expect(server.unexpected()).toEqual([
		'no answer left in conversation "script" for its request 2: a request for m1 with 4 messages and user text "Say something"',
	]);
});

test("tool calls cut in the middle are a mistake of the script", async () => {
	const { server } = await runScript([{ toolCalls: [{ name: "bash", args: {} }], disconnectAfter: 3 }]);

	expect(server.unexpected()).toEqual(['answer 1 of conversation "script" cuts or holds tool calls in the middle']);
});

test("a script that throws and a request to another path are reported", async () => {
	const { server } = await runScript(() => {
		throw new Error("out of ideas");
	});
	const response = await fetch(`${server.url}/models`);

	expect(response.status).toBe(400);
	expect(server.unexpected()).toEqual([
		"the script threw: Error: out of ideas",
		"no such endpoint: GET /api/v1/models",
	]);
});

test("an answer on hold is given once it is released", async () => {
	const { server, directory } = await setUp([{ text: "At last", hold: true }]);
	const running = runJson(directory, "Wait");

	const held = await server.held();
	expect(held.request).toMatchObject({ conversation: "script", outcome: "held", userText: "Wait" });
	held.release();

	const run = await running;
	expect(assistantMessages(run.records).map(textOf)).toEqual(["At last"]);
	expect(server.requests()).toMatchObject([{ outcome: "answered" }]);
	expectSameTotals(server, run);
});

test("an answer waits for a promise of the script", async () => {
	const gate = Promise.withResolvers<void>();
	const { server, directory } = await setUp([{ status: 401, hold: gate.promise }]);
	const running = runJson(directory, "Wait");

	await server.until(([first]) => first?.outcome === "held");
	gate.resolve();

	expect(assistantMessages((await running).records)).toMatchObject([{ stopReason: "error" }]);
});

test("a stream held in the middle goes on once it is released", async () => {
	const { server, directory } = await setUp([
		{ text: "first half, second half", hold: true, holdAfter: 10, chunkCharacters: 10, usage: { input: 7, output: 8 } },
	]);
	const running = runJson(directory, "Wait");

	(await server.held("script")).release();

	const run = await running;
	expect(assistantMessages(run.records)).toMatchObject([
		{ content: [{ type: "text", text: "first half, second half" }], stopReason: "stop" },
	]);
	expectSameTotals(server, run);
});

test("a stream held in the middle has sent its beginning", async () => {
	const server = await startModelServer([
		{ text: "first half, second half", hold: true, holdAfter: 10, chunkCharacters: 10 },
	]);
	cleanups.push(() => server.stop());

	const response = await fetch(`${server.url}/chat/completions`, {
		method: "POST",
		body: JSON.stringify({ model: "m1", stream: true, messages: [{ role: "user", content: "hi" }] }),
	});
	await server.held();
	let received = "";
	for await (const bytes of response.body ?? []) {
		received += Buffer.from(bytes).toString("utf8");
		if (received.includes("first half")) break;
	}

	expect(received).not.toContain("second half");
	await server.until(([first]) => first?.outcome === "abandoned");
	expect(server.served()).toMatchObject({ output: 0 });
});

test("a hanging answer keeps pi waiting until it is ended, and no usage is counted", async () => {
	const { server, directory } = await setUp([{ hang: true }]);
	const end = new AbortController();
	const running = runJson(directory, "Wait", { signal: end.signal });

	await server.held();
	end.abort();

	expect(await running).toMatchObject({ code: 143, timedOut: false });
	await server.until(([first]) => first?.outcome === "abandoned");
	expect(server.served()).toMatchObject({ input: 0, output: 0 });
});

test("a run beyond its time is ended", async () => {
	const { directory } = await setUp([{ hang: true }]);

	expect(await runJson(directory, "Wait", { timeoutMs: 1500 })).toMatchObject({ code: 143, timedOut: true });
});

test("stopping the server ends what is open", async () => {
	const { server, directory } = await setUp([{ hang: true, times: Number.POSITIVE_INFINITY }]);
	const running = runJson(directory, "Wait");
	await server.held();
	const never = expect(server.held()).rejects.toThrow("stopped");

	await server.stop();

	await never;
	expect(assistantMessages((await running).records).at(-1)?.stopReason).toBe("error");
	expect(server.requests()[0]?.outcome).toBe("abandoned");
});

test("print mode, with the task on stdin", async () => {
	const { server, directory } = await setUp([{ text: "An answer" }]);

	const run = await runPi({ ...directory, args: ["-p", "-ne"], input: "A task\u2028in one line" });

	expect(run).toMatchObject({ code: 0, records: [], otherLines: ["An answer"] });
	expect(server.requests()[0]?.userText).toBe("A task\u2028in one line");
});
