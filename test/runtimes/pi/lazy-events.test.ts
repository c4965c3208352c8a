import { afterEach, describe, expect, test, vi } from "vitest";
import type { ChildEvent } from "../../../src/events/agent-event.ts";
import { createStream, HOT_TYPES } from "./stream.ts";

afterEach(() => void vi.restoreAllMocks());

const EXAMPLES = {
	message_update: { assistantMessageEvent: { type: "text_delta", contentIndex: 0, delta: "é" }, usage: { input: 1 } },
	tool_execution_update: { toolCallId: "1", toolName: "bash", args: { command: "ls" }, partialResult: { content: [] } },
	message_start: { message: { role: "assistant" } },
	turn_end: { message: { role: "assistant" }, toolResults: [{ role: "toolResult" }] },
	agent_end: { messages: [{ role: "user" }], willRetry: true },
} as const satisfies Record<(typeof HOT_TYPES)[number], object>;

function receive(...lines: (object | string)[]) {
	const stream = createStream();
	const events: ChildEvent[] = [];
	stream.bus.subscribe((event) => {
		if (event.type !== "overlong") events.push(event);
	});
	stream.feed(...lines);
	return { ...stream, events };
}

/** The values of an event's properties, whether they are fields or made when asked for. */
function read(event: ChildEvent | undefined, names: readonly string[]): Record<string, unknown> {
	return Object.fromEntries(names.map((name) => [name, event && Reflect.get(event, name)]));
}

describe.each(HOT_TYPES)("%s", (type) => {
	const example: Readonly<Record<string, unknown>> = EXAMPLES[type];
	const names = Object.keys(example);

	test("has what its line says", () => {
		const { events } = receive({ type, ...example });
		expect(events.map((event) => event.type)).toEqual([type]);
		expect(read(events[0], names)).toEqual(example);
	});

	test("is decoded once, and only when somebody looks", () => {
		const parse = vi.spyOn(JSON, "parse");
		const { events } = receive({ type, ...example });
		expect(parse).not.toHaveBeenCalled();
		for (let look = 0; look < 3; look++) read(events[0], names);
		expect(parse).toHaveBeenCalledTimes(1);
	});

	test("cut by a crash is noise, wherever the cut is, and carries nothing", () => {
		const line = JSON.stringify({ type, ...example });
		for (let length = 1; length < line.length; length++) {
			const cut = line.slice(0, length);
			const { events, facts } = receive(cut);
			// Behind an inner brace the cut shows only when somebody looks.
			expect(events).toHaveLength(cut.endsWith("}") && cut.startsWith(`{"type":"${type}",`) ? 1 : 0);
			expect(() => read(events[0], names)).not.toThrow();
			expect(facts()).toMatchObject({ noiseLines: 1, malformedRecords: 0 });
			if (events.length === 0) expect(facts().noiseSample).toBe(cut.slice(0, 200));
		}
	});

	test("that turns out to be no record is noise, counted once, and harmless", () => {
		const { events, facts } = receive(`{"type":"${type}",oops}`);
		expect(facts().noiseLines).toBe(0);
		for (let look = 0; look < 3; look++) expect(() => read(events[0], names)).not.toThrow();
		expect(facts().noiseLines).toBe(1);
	});
});

test("an unreadable delta changes no text", () => {
	const { events } = receive('{"type":"message_update",oops}');
	expect(read(events[0], ["assistantMessageEvent"])).toEqual({
		assistantMessageEvent: { type: "text_delta", contentIndex: 0, delta: "" },
	});
});

describe("willRetry", () => {
	test.each([
		[true, '{"type":"agent_end","messages":[],"willRetry":true}'],
		[false, '{"type":"agent_end","messages":[],"willRetry":false}'],
		[false, '{"type":"agent_end","messages":[{"text":"\\"willRetry\\":true}"}],"willRetry":false}'],
		[false, '{"type":"agent_end","messages":[]}'],
	])("is %s in %s, without decoding", (expected, line) => {
		const parse = vi.spyOn(JSON, "parse");
		const { events } = receive(line);
		expect(events).toMatchObject([{ type: "agent_end", willRetry: expected }]);
		expect(parse).not.toHaveBeenCalled();
	});
});
