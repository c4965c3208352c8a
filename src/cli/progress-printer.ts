import type { AgentEvent, AgentEventSource, ObservedEvent } from "../events/agent-event.ts";
import { describeActivity, describeCounters, describeTool, printableLine } from "../manager/describe-activity.ts";
import { type AgentRecord, createActivity, subscribeUIObserver } from "../observers/index.ts";
import { formatCount } from "../records/format.ts";

/** Erases the current line of a terminal and goes to its start. */
const CLEAR_LINE = "\r\u001b[2K";

/**
 * Prints how a run goes on: a line for every turn and tool result, and on a terminal one more that says what is going on
 * and is overwritten.
 */
export class ProgressPrinter {
	readonly #write: (text: string) => void;
	readonly #interactive: boolean;
	#ends: (() => void)[] = [];
	#status = "";

	constructor(write: (text: string) => void, interactive: boolean) {
		this.#write = write;
		this.#interactive = interactive;
	}

	/** Follows the child whose events come from `source`. Its record must be subscribed already: it holds the numbers. */
	follow(source: AgentEventSource, record: AgentRecord): void {
		const started = new Map<string, string>();
		const print = (observed: ObservedEvent) => {
			// Of the types below the handler checked the shape.
			const event = observed as AgentEvent;
			if (event.type === "turn_end") this.#line(turnMark(record));
			if (event.type === "tool_execution_start")
				started.set(event.toolCallId, describeTool(event.toolName, event.args));
			if (event.type === "tool_execution_end") {
				const call = started.get(event.toolCallId) ?? printableLine(event.toolName);
				started.delete(event.toolCallId);
				this.#line(`  [${printableLine(event.toolName)}] ${event.isError ? "failed: " : ""}${call}`);
			}
			if (event.type === "auto_retry_start")
				this.#line(`  [retry ${event.attempt}] ${printableLine(event.errorMessage)}`);
		};
		this.#ends.push(
			source.subscribe(print, {
				types: ["turn_end", "tool_execution_start", "tool_execution_end", "auto_retry_start"],
			}),
		);
		if (!this.#interactive) return;
		const activity = createActivity();
		const show = () => this.#show(`${describeActivity(activity)} · ${describeCounters(record)}`);
		this.#ends.push(subscribeUIObserver(source, activity, show));
	}

	/** Unsubscribes and takes the changing line away. Idempotent. */
	end(): void {
		for (const end of this.#ends) end();
		this.#ends = [];
		this.#show("");
	}

	#line(text: string): void {
		const status = this.#status;
		this.#show("");
		this.#write(`${text}\n`);
		this.#show(status);
	}

	#show(status: string): void {
		if (!this.#interactive || (status === "" && this.#status === "")) return;
		// Longer than the terminal is wide, it would wrap and could not be erased. Columns, not bytes, would be exact;
		// bytes are never fewer.
		const width = Math.max(1, (process.stderr.columns || 80) - 1);
		this.#status = status;
		this.#write(`${CLEAR_LINE}${printableLine(status, width)}`);
	}
}

function turnMark(record: AgentRecord): string {
	const last = record.perTurn.at(-1);
	return `[turn ${record.turns} · ${formatCount(last?.in ?? 0)} in / ${formatCount(last?.out ?? 0)} out]`;
}
