import type { JsonAgentSessionEvent } from "@earendil-works/pi-coding-agent";
import { type JsonRecord, parseRecord } from "./parse-record.ts";

type Event<T extends JsonAgentSessionEvent["type"]> = Extract<JsonAgentSessionEvent, { type: T }>;

/** Told of a line that turned out to be no record when somebody looked inside. */
export type OnUnreadable = () => void;

/**
 * An event whose line is decoded when somebody first looks inside. Most deltas of a stream are never looked at: they cost
 * a comparison of their first bytes.
 */
abstract class LazyEvent {
	#line: Buffer | undefined;
	readonly #onUnreadable: OnUnreadable;
	#record: JsonRecord | undefined;

	constructor(line: Buffer, onUnreadable: OnUnreadable) {
		this.#line = line;
		this.#onUnreadable = onUnreadable;
	}

	protected get record(): JsonRecord {
		if (this.#line) {
			const parsed = parseRecord(this.#line.toString("utf8"));
			if (parsed.kind === "record") this.#record = parsed.record;
			else this.#onUnreadable();
			// The line keeps the whole chunk alive that it came in.
			this.#line = undefined;
		}
		this.#record ??= { type: "unreadable" };
		return this.#record;
	}
}

export class LazyMessageUpdate extends LazyEvent implements Event<"message_update"> {
	readonly type = "message_update";
	get usage() {
		return this.record.usage as Event<"message_update">["usage"];
	}
	get assistantMessageEvent() {
		const event = this.record.assistantMessageEvent as Event<"message_update">["assistantMessageEvent"] | undefined;
		return event ?? ({ type: "text_delta", contentIndex: 0, delta: "" } as const);
	}
}

export class LazyToolUpdate extends LazyEvent implements Event<"tool_execution_update"> {
	readonly type = "tool_execution_update";
	get toolCallId() {
		return String(this.record.toolCallId ?? "");
	}
	get toolName() {
		return String(this.record.toolName ?? "");
	}
	get args() {
		return this.record.args;
	}
	get partialResult() {
		return this.record.partialResult as Event<"tool_execution_update">["partialResult"];
	}
}

export class LazyMessageStart extends LazyEvent implements Event<"message_start"> {
	readonly type = "message_start";
	get message() {
		return this.record.message as Event<"message_start">["message"];
	}
}

export class LazyTurnEnd extends LazyEvent implements Event<"turn_end"> {
	readonly type = "turn_end";
	get message() {
		return this.record.message as Event<"turn_end">["message"];
	}
	get toolResults() {
		return this.record.toolResults as Event<"turn_end">["toolResults"];
	}
}

/** `agent_end` repeats every message of the run; whether a retry follows is told by the end of the line. */
export class LazyAgentEnd extends LazyEvent implements Event<"agent_end"> {
	readonly type = "agent_end";
	readonly willRetry: boolean;
	constructor(line: Buffer, onUnreadable: OnUnreadable) {
		super(line, onUnreadable);
		this.willRetry = line.subarray(-RETRY_SUFFIX.length).equals(RETRY_SUFFIX);
	}
	get messages() {
		return (this.record.messages ?? []) as Event<"agent_end">["messages"];
	}
}

const RETRY_SUFFIX = Buffer.from('"willRetry":true}');
