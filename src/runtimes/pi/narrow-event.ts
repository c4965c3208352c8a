import type { ChildEvent } from "../../events/agent-event.ts";
import type { JsonRecord } from "./parse-record.ts";

/**
 * Lets a record through as an event if the fields that observers rely on have the right shape. Types we do not know pass:
 * nobody relies on them, and the journal keeps them.
 * @returns undefined for a record that claims a known type and does not have its shape
 */
export function narrowEvent(record: JsonRecord): ChildEvent | undefined {
	return hasRequiredShape(record) ? record : undefined;
}

function hasRequiredShape(record: JsonRecord): record is JsonRecord & ChildEvent {
	return REQUIRED_SHAPES.get(record.type)?.(record) ?? true;
}

type ShapeCheck = (record: JsonRecord) => boolean;

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === "object" && value !== null;
const hasMessage: ShapeCheck = ({ message }) => isObject(message) && typeof message.role === "string";
const hasToolCall: ShapeCheck = ({ toolCallId, toolName }) =>
	typeof toolCallId === "string" && typeof toolName === "string";

const REQUIRED_SHAPES: ReadonlyMap<string, ShapeCheck> = new Map([
	["session", ({ id }) => typeof id === "string"],
	["message_start", hasMessage],
	["message_end", hasMessage],
	["message_update", ({ assistantMessageEvent: event }) => isObject(event) && typeof event.type === "string"],
	["tool_execution_start", hasToolCall],
	["tool_execution_update", hasToolCall],
	["tool_execution_end", hasToolCall],
	["agent_settled", ({ aborted }) => typeof aborted === "boolean"],
	["compaction_end", ({ result }) => result === undefined || result === null || isObject(result)],
	["entry_appended", ({ entry }) => isObject(entry) && typeof entry.type === "string"],
	["response", ({ success }) => typeof success === "boolean"],
	["extension_ui_request", ({ id, method }) => typeof id === "string" && typeof method === "string"],
]);
