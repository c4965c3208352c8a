import { afterEach, describe, expect, test, vi } from "vitest";
import type { ChildEvent } from "../../../src/events/agent-event.ts";
import { OutputSources, ProcessOutputBus } from "../../../src/process/index.ts";
import { PiEventsHandler, piEventsHandlerFactory } from "../../../src/runtimes/pi/events-handler.ts";
import { createStream, HOT_TYPES } from "./stream.ts";

afterEach(() => void vi.restoreAllMocks());

const assistant = (text: string, more: object = {}) => ({
	type: "message_end",
	message: { role: "assistant", content: [{ type: "text", text }], stopReason: "stop", ...more },
});

describe("the hot path", () => {
	test.each(HOT_TYPES)("decodes and emits no %s that nobody wants", (type) => {
		const { feed, facts, bus } = createStream();
		bus.subscribe(() => expect.unreachable(), { types: ["queue_update"] });
		const parse = vi.spyOn(JSON, "parse");
		for (let i = 0; i < 1000; i++) feed({ type, message: { role: "assistant" }, willRetry: false });
		expect(parse).not.toHaveBeenCalled();
		expect(facts().noiseLines).toBe(0);
		expect(bus.getMetrics().handlerErrors).toEqual({});
	});

	test("makes no event that nobody wants", () => {
		const emit = vi.fn();
		const bus = new ProcessOutputBus<ChildEvent>();
		bus.register(new PiEventsHandler({ emit, wants: (type) => type === "turn_end" }));
		for (const type of HOT_TYPES) bus.feed(Buffer.from(`{"type":"${type}"}\n`), OutputSources.stdout);
		expect(emit.mock.calls).toMatchObject([[{ type: "turn_end" }]]);
	});

	test("is taken by the whole type only", () => {
		const { feed, bus } = createStream();
		const types: string[] = [];
		bus.subscribe((event) => types.push(event.type));
		feed({ type: "message_update_2" }, { type: "turn_end_of_the_world" }, { type: "message_updat" });
		expect(types).toEqual(["message_update_2", "turn_end_of_the_world", "message_updat"]);
	});

	test("a hot record after junk goes the slow way and arrives whole", () => {
		const { feed, bus } = createStream();
		const deltas: unknown[] = [];
		bus.subscribe((event) => deltas.push(event.assistantMessageEvent), { types: ["message_update"] });
		const event = { type: "text_delta", contentIndex: 0, delta: "x" };
		feed(`\u001b[0m${JSON.stringify({ type: "message_update", assistantMessageEvent: event })}`);
		expect(deltas).toEqual([event]);
	});
});

describe("facts", () => {
	test("are those of nothing before the first line", () => {
		expect(createStream().facts()).toEqual({
			sessionId: undefined,
			started: false,
			settled: undefined,
			lastAssistant: undefined,
			lastText: "",
			noiseLines: 0,
			noiseSample: "",
			malformedRecords: 0,
			extensionErrors: [],
		});
	});

	test("the first session counts", () => {
		const { feed, facts } = createStream();
		feed({ type: "session", id: "a" }, { type: "session", id: "b" });
		expect(facts().sessionId).toBe("a");
	});

	test("a new run takes back that it is over", () => {
		const { feed, facts } = createStream();
		feed({ type: "agent_start" }, { type: "agent_settled", aborted: true });
		expect(facts().settled).toEqual({ aborted: true });
		feed({ type: "agent_start" });
		expect(facts()).toMatchObject({ started: true, settled: undefined });
	});

	test("the last assistant message counts, its text without thinking and calls", () => {
		const { feed, facts } = createStream();
		feed(assistant("first"));
		feed({
			type: "message_end",
			message: {
				role: "assistant",
				provider: "mock",
				model: "m1",
				stopReason: "error",
				rawStopReason: "content_filter",
				errorMessage: "no",
				content: [
					{ type: "thinking", thinking: "hm" },
					{ type: "text", text: "a" },
					{ type: "toolCall", name: "x" },
					null,
					{ type: "text", text: 5 },
					{ type: "text", text: "b" },
				],
			},
		});
		expect(facts().lastAssistant).toEqual({
			stopReason: "error",
			rawStopReason: "content_filter",
			errorMessage: "no",
			provider: "mock",
			model: "m1",
			text: "ab",
		});
		expect(facts().lastText).toBe("ab");
	});

	test.each([
		["a text", "as it is"],
		["nothing", undefined],
		["a number", 5],
		["an object", {}],
	])("content may be %s", (_what, content) => {
		const { feed, facts } = createStream();
		feed({ type: "message_end", message: { role: "assistant", stopReason: "stop", content } });
		expect(facts().lastAssistant?.text).toBe(typeof content === "string" ? content : "");
	});

	test("the last text survives an empty answer", () => {
		const { feed, facts } = createStream();
		feed(assistant("said before"), assistant(" \n"));
		expect(facts()).toMatchObject({ lastText: "said before", lastAssistant: { text: " \n" } });
	});

	test("messages of others do not count", () => {
		const { feed, facts } = createStream();
		for (const role of ["user", "system", "toolResult"])
			feed({ type: "message_end", message: { role, content: [{ type: "text", text: "x" }] } });
		expect(facts()).toMatchObject({ lastAssistant: undefined, lastText: "" });
	});

	test("noise is counted, its first line kept in part", () => {
		const { feed, facts } = createStream();
		feed(`${"n".repeat(199)}\u{1f600}`, "second", "", "\0");
		expect(facts()).toMatchObject({ noiseLines: 2, noiseSample: `${"n".repeat(199)}\ufffd` });
	});

	test("records of a wrong shape are counted and not emitted", () => {
		const { feed, facts, bus } = createStream();
		const types: string[] = [];
		bus.subscribe((event) => types.push(event.type));
		feed({ type: "message_end" }, { type: "agent_settled" }, { type: "new_thing" });
		expect(facts()).toMatchObject({ malformedRecords: 2, settled: undefined, noiseLines: 0 });
		expect(types).toEqual(["new_thing"]);
	});

	test("five errors of extensions are kept", () => {
		const { feed, facts } = createStream();
		feed({ type: "extension_error", extensionPath: "/x.ts", event: "turn_end", error: "boom" });
		for (let i = 0; i < 9; i++) feed({ type: "extension_error" });
		expect(facts().extensionErrors).toEqual([
			"/x.ts (turn_end): boom",
			...Array.from({ length: 4 }, () => "extension: unknown error"),
		]);
	});

	test("of an earlier moment do not change", () => {
		const { feed, facts } = createStream();
		const before = facts();
		feed({ type: "agent_start" });
		expect([before.started, facts().started]).toEqual([false, true]);
	});
});

test("the factory serves pi children only", () => {
	expect(piEventsHandlerFactory.processFilter).toEqual(["pi"]);
	const handler = piEventsHandlerFactory.create({ processLabel: "pi", emit: () => undefined, wants: () => false });
	expect(handler).toMatchObject({ name: "pi-events", windowSize: 1, sources: [{ type: "stdout" }] });
});
