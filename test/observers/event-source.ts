import type { AgentEventSource, ObservedEvent } from "../../src/events/agent-event.ts";

/** A source that sends every listener everything, as a session does. */
export function createEventSource() {
	const listeners = new Set<(event: ObservedEvent) => void>();
	const asked: (readonly string[])[] = [];
	const source: AgentEventSource = {
		subscribe(listener, { types }) {
			listeners.add(listener);
			asked.push(types);
			return () => listeners.delete(listener);
		},
	};
	return {
		source,
		/** The types that listeners said they look at. */
		asked,
		listeners: () => listeners.size,
		emit(event: { readonly type: string; readonly [field: string]: unknown }): void {
			for (const listener of [...listeners]) listener(event);
		},
	};
}

export function textDelta(delta: string) {
	return { type: "message_update", assistantMessageEvent: { type: "text_delta", contentIndex: 0, delta } };
}
