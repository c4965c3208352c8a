import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { narrowEvent } from "../../../src/runtimes/pi/narrow-event.ts";
import { parseRecord } from "../../../src/runtimes/pi/parse-record.ts";
import { recordingNames, stdoutOf } from "../../support/recordings.ts";

const GOOD = [
	{ type: "session", id: "s" },
	{ type: "message_start", message: { role: "user" } },
	{ type: "message_end", message: { role: "assistant" } },
	{ type: "message_update", assistantMessageEvent: { type: "text_delta" } },
	{ type: "tool_execution_start", toolCallId: "1", toolName: "read" },
	{ type: "tool_execution_update", toolCallId: "1", toolName: "read" },
	{ type: "tool_execution_end", toolCallId: "1", toolName: "read" },
	{ type: "agent_settled", aborted: false },
	{ type: "compaction_end" },
	{ type: "compaction_end", result: null },
	{ type: "compaction_end", result: {} },
	{ type: "entry_appended", entry: { type: "usage" } },
	{ type: "response", success: true },
	{ type: "extension_ui_request", id: "1", method: "select" },
	{ type: "something_new", whatever: 1 },
	{ type: "toString" },
	{ type: "__proto__" },
];

const BAD = [
	{ type: "session" },
	{ type: "session", id: 5 },
	{ type: "message_start", message: null },
	{ type: "message_end" },
	{ type: "message_end", message: "text" },
	{ type: "message_end", message: {} },
	{ type: "message_update", assistantMessageEvent: {} },
	{ type: "tool_execution_start", toolCallId: "1" },
	{ type: "tool_execution_update", toolName: "read" },
	{ type: "tool_execution_end", toolCallId: 1, toolName: "read" },
	{ type: "agent_settled" },
	{ type: "compaction_end", result: "done" },
	{ type: "entry_appended", entry: null },
	{ type: "entry_appended", entry: { kind: "usage" } },
	{ type: "response", success: "yes" },
	{ type: "extension_ui_request", method: "select" },
];

describe("narrowEvent", () => {
	test.each(GOOD)("lets %j through as it is", (record) => {
		expect(narrowEvent(record)).toBe(record);
	});

	test.each(BAD)("refuses %j", (record) => {
		expect(narrowEvent(record)).toBeUndefined();
	});

	test("never throws, whatever the fields hold", () => {
		const types = fc.constantFrom(...new Set(GOOD.map(({ type }) => type)));
		const field = fc.constantFrom("id", "message", "toolCallId", "toolName", "aborted", "result", "entry", "success");
		fc.assert(
			fc.property(types, fc.dictionary(field, fc.jsonValue()), (type, fields) => {
				narrowEvent({ ...fields, type });
			}),
		);
	});

	test("lets every record of every recording through", () => {
		const refused = recordingNames
			.flatMap((name) => stdoutOf(name).toString("utf8").split("\n"))
			.map((line) => parseRecord(line))
			.filter((parsed) => parsed.kind === "record" && narrowEvent(parsed.record) === undefined);
		expect(refused).toEqual([]);
	});
});
