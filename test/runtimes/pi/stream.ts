import type { ChildEvent } from "../../../src/events/agent-event.ts";
import { OutputSources, ProcessOutputBus } from "../../../src/process/index.ts";
import { PiEventsHandler } from "../../../src/runtimes/pi/events-handler.ts";

/** A bus with the handler of a pi child, fed by hand. */
export function createStream() {
	const bus = new ProcessOutputBus<ChildEvent>();
	const handler = new PiEventsHandler({ emit: (event) => bus.emit(event), wants: (type) => bus.wants(type) });
	bus.register(handler);
	return {
		bus,
		facts: () => handler.getFacts(),
		/** Feeds lines: objects as JSON, texts as they are. */
		feed(...lines: readonly (object | string)[]): void {
			for (const line of lines)
				bus.feed(Buffer.from(`${typeof line === "string" ? line : JSON.stringify(line)}\n`), OutputSources.stdout);
		},
	};
}

export const HOT_TYPES = ["message_update", "tool_execution_update", "message_start", "turn_end", "agent_end"] as const;
