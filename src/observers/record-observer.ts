import type { AgentEvent, AgentEventSource, ObservedEvent } from "../events/agent-event.ts";
import type { AgentRecord } from "./agent-record.ts";
import { addUsage } from "./usage.ts";

export interface CompactionInfo {
	readonly reason: string;
	/** Context size before, in tokens. */
	readonly tokensBefore: number;
}

export interface RecordObserverOptions {
	readonly onCompact?: ((record: AgentRecord, info: CompactionInfo) => void) | undefined;
}

/**
 * Keeps the counters of a record from the events of its child. The only writer of them.
 * Usage is counted where pi says it once: in `message_end` of assistant and tool results, in the result of a compaction, and
 * in usage entries. Everything else that carries usage repeats these.
 * @returns the unsubscribe function
 */
export function subscribeRecordObserver(
	source: AgentEventSource,
	record: AgentRecord,
	options: RecordObserverOptions = {},
): () => void {
	let turnIn = 0;
	let turnOut = 0;
	const count = (usage: unknown) => {
		const before = record.lifetimeUsage;
		record.lifetimeUsage = addUsage(before, usage);
		turnIn += record.lifetimeUsage.input - before.input;
		turnOut += record.lifetimeUsage.output - before.output;
	};
	const observe = (observed: ObservedEvent) => {
		// Of the types below the handler checked the shape, and a session in this process has it by construction.
		const event = observed as AgentEvent;
		switch (event.type) {
			case "tool_execution_end":
				record.toolUses++;
				if (event.isError) record.toolErrors++;
				record.toolCounts.set(event.toolName, (record.toolCounts.get(event.toolName) ?? 0) + 1);
				break;
			case "message_end":
				if (event.message.role === "assistant" || event.message.role === "toolResult") count(event.message.usage);
				break;
			case "entry_appended":
				if (event.entry.type === "usage") count(event.entry.usage);
				break;
			case "turn_end":
				record.turns++;
				record.noteTurn({ turn: record.turns, in: turnIn, out: turnOut });
				turnIn = 0;
				turnOut = 0;
				break;
			case "auto_retry_start":
				record.retries++;
				break;
			case "compaction_end":
				if (!event.result) break;
				count(event.result.usage);
				if (event.aborted) break;
				record.compactionCount++;
				options.onCompact?.(record, { reason: event.reason, tokensBefore: event.result.tokensBefore });
				break;
		}
	};
	return source.subscribe(observe, { types: OBSERVED });
}

const OBSERVED = [
	"tool_execution_end",
	"message_end",
	"entry_appended",
	"turn_end",
	"auto_retry_start",
	"compaction_end",
] as const;
