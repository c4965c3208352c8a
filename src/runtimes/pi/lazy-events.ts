import type { JsonAgentSessionEvent } from "@earendil-works/pi-coding-agent";
import { type LazyEventArguments, LazyRecord } from "./lazy-record.ts";

type Event<T extends JsonAgentSessionEvent["type"]> = Extract<JsonAgentSessionEvent, { type: T }>;
type ToolResultMessage = Extract<Event<"message_end">["message"], { role: "toolResult" }>;

export class LazyMessageUpdate extends LazyRecord implements Event<"message_update"> {
	get type() {
		return "message_update" as const;
	}
	get usage() {
		return this.record.usage as Event<"message_update">["usage"];
	}
	get assistantMessageEvent() {
		const event = this.record.assistantMessageEvent as Event<"message_update">["assistantMessageEvent"] | undefined;
		return event ?? ({ type: "text_delta", contentIndex: 0, delta: "" } as const);
	}
}

/** Id and name of a tool call, which stand at the start of its events. */
const CALL = /^\{"type":"[a-z_]+","toolCallId":"([^"\\]*)","toolName":"([^"\\]*)"/;

abstract class LazyToolEvent extends LazyRecord {
	#call: RegExpExecArray | null | undefined;
	get toolCallId() {
		return this.#callPart(1) ?? String(this.record.toolCallId ?? "");
	}
	get toolName() {
		return this.#callPart(2) ?? String(this.record.toolName ?? "");
	}
	/** Undefined where the names hold more than ASCII, or stand elsewhere: then the record tells. */
	#callPart(part: 1 | 2): string | undefined {
		if (this.#call === undefined) this.#call = CALL.exec(this.head);
		const text = this.#call?.[part];
		return text !== undefined && isAscii(text) ? text : undefined;
	}
}

export class LazyToolUpdate extends LazyToolEvent implements Event<"tool_execution_update"> {
	get type() {
		return "tool_execution_update" as const;
	}
	get args() {
		return this.record.args;
	}
	get partialResult() {
		return this.record.partialResult as Event<"tool_execution_update">["partialResult"];
	}
}

/**
 * What follows the result of a call, up to the end of the line. Within a text quotes are escaped, and within an object more
 * than one brace would follow: only fields of the record itself match.
 */
const CALL_END = /"isError":(true|false)(?:,"durationMs":[\d.eE+-]+)?\}$/;

/** The result, which may be a megabyte, is decoded only for whoever wants it. */
export class LazyToolEnd extends LazyToolEvent implements Event<"tool_execution_end"> {
	get type() {
		return "tool_execution_end" as const;
	}
	get isError() {
		const told = CALL_END.exec(this.tail)?.[1];
		return told === undefined ? this.record.isError === true : told === "true";
	}
	get result() {
		return this.record.result as Event<"tool_execution_end">["result"];
	}
	get durationMs() {
		return this.record.durationMs as number | undefined;
	}
	get parentToolCallId() {
		return this.record.parentToolCallId as string | undefined;
	}
}

/** The end of a tool result message: it repeats the result of the call, and rarely carries usage. */
export class LazyToolResultEnd extends LazyRecord implements Event<"message_end"> {
	get type() {
		return "message_end" as const;
	}
	readonly message: ToolResultMessage;
	constructor(...line: LazyEventArguments) {
		super(...line);
		this.message = new LazyToolResult(
			() => this.record.message as ToolResultMessage,
			() => this.holds('"usage":'),
		);
	}
}

/** Whoever counts needs role and usage alone: without any usage in the line, the rest stays undecoded. */
class LazyToolResult implements ToolResultMessage {
	readonly role = "toolResult";
	readonly #message: () => ToolResultMessage;
	readonly #mayHoldUsage: () => boolean;
	constructor(message: () => ToolResultMessage, mayHoldUsage: () => boolean) {
		this.#message = message;
		this.#mayHoldUsage = mayHoldUsage;
	}
	get usage() {
		return this.#mayHoldUsage() ? this.#message().usage : undefined;
	}
	get toolCallId() {
		return this.#message().toolCallId;
	}
	get toolName() {
		return this.#message().toolName;
	}
	get content() {
		return this.#message().content;
	}
	get details() {
		return this.#message().details;
	}
	get isError() {
		return this.#message().isError;
	}
	get durationMs() {
		return this.#message().durationMs;
	}
	get timestamp() {
		return this.#message().timestamp;
	}
}

export class LazyMessageStart extends LazyRecord implements Event<"message_start"> {
	get type() {
		return "message_start" as const;
	}
	get message() {
		return this.record.message as Event<"message_start">["message"];
	}
}

export class LazyTurnEnd extends LazyRecord implements Event<"turn_end"> {
	get type() {
		return "turn_end" as const;
	}
	get message() {
		return this.record.message as Event<"turn_end">["message"];
	}
	get toolResults() {
		return this.record.toolResults as Event<"turn_end">["toolResults"];
	}
}

/** `agent_end` repeats every message of the run; whether a retry follows is told by the end of the line. */
export class LazyAgentEnd extends LazyRecord implements Event<"agent_end"> {
	get type() {
		return "agent_end" as const;
	}
	get willRetry() {
		return this.tail.endsWith('"willRetry":true}');
	}
	get messages() {
		return (this.record.messages ?? []) as Event<"agent_end">["messages"];
	}
}

function isAscii(text: string): boolean {
	for (let i = 0; i < text.length; i++) if (text.charCodeAt(i) > 0x7f) return false;
	return true;
}
