import type { PiRecord } from "./run-pi.ts";

type MessageEnd = Extract<PiRecord, { type: "message_end" }>;
export type AssistantMessage = Extract<MessageEnd["message"], { role: "assistant" }>;
export type ToolResultMessage = Extract<MessageEnd["message"], { role: "toolResult" }>;

/** The finished assistant messages of a run, failed attempts included. */
export function assistantMessages(records: readonly PiRecord[]): AssistantMessage[] {
	return messages(records).filter((message) => message.role === "assistant");
}

export function toolResults(records: readonly PiRecord[]): ToolResultMessage[] {
	return messages(records).filter((message) => message.role === "toolResult");
}

function messages(records: readonly PiRecord[]): MessageEnd["message"][] {
	return records.filter((record) => record.type === "message_end").map(({ message }) => message);
}

export function textOf({ content }: AssistantMessage | ToolResultMessage): string {
	return content.map((block) => (block.type === "text" ? block.text : "")).join("");
}

/** Tokens and USD of all assistant messages; `input` without the cached tokens. */
export function sumUsage(records: readonly PiRecord[]) {
	const sum = { input: 0, output: 0, cacheRead: 0, cost: 0 };
	for (const { usage } of assistantMessages(records)) {
		sum.input += usage.input;
		sum.output += usage.output;
		sum.cacheRead += usage.cacheRead;
		sum.cost += usage.cost.total;
	}
	return sum;
}
