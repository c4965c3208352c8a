import type { AgentEvent, AgentEventSource, ObservedEvent } from "../events/agent-event.ts";
import { UpdateGate } from "./update-gate.ts";

/** A tool call that runs now. */
export interface ActiveTool {
	readonly name: string;
	readonly args: unknown;
	/** Milliseconds since the epoch. */
	readonly startedAt: number;
}

export type ActivityPhase = "starting" | "thinking" | "writing" | "waiting" | "retrying" | "compacting" | "settled";

/** What a child does at this moment, for eyes only. Counters are on the record. */
export interface AgentActivity {
	phase: ActivityPhase;
	/** By toolCallId, in the order they started. */
	readonly activeTools: Map<string, ActiveTool>;
	/** The last finished tool calls, oldest first, at most 20. */
	readonly recentTools: FinishedTool[];
	/** The end of the text being written in this turn, at most 4,000 characters. */
	text: string;
	/** Why it waits, where it does: the error before a retry. */
	note: string;
}

export interface FinishedTool extends ActiveTool {
	readonly isError: boolean;
}

export function createActivity(): AgentActivity {
	return { phase: "starting", activeTools: new Map(), recentTools: [], text: "", note: "" };
}

const TEXT_CHARACTERS = 4000;
const RECENT_TOOLS = 20;
/** Deltas kept until somebody looks. More than this between two looks, and the oldest are not worth decoding. */
const MAX_PENDING_DELTAS = 512;
/** At most 30 updates a second; in whole milliseconds, since timers cut off the fraction. */
const MIN_UPDATE_GAP_MS = 34;

type Delta = Extract<AgentEvent, { type: "message_update" }>;

/**
 * Keeps an activity from the events of a child. Deltas are decoded only when an update is due.
 * @param onUpdate told of changes, at most 30 times a second, the last change included
 * @returns the unsubscribe function; it clears the timer
 */
export function subscribeUIObserver(
	source: AgentEventSource,
	activity: AgentActivity,
	onUpdate?: () => void,
): () => void {
	const deltas = new PendingDeltas();
	const gate = new UpdateGate(MIN_UPDATE_GAP_MS, () => {
		deltas.decodeInto(activity);
		onUpdate?.();
	});
	const observe = (observed: ObservedEvent) => {
		// Of the types below the handler checked the shape, and a session in this process has it by construction.
		const event = observed as AgentEvent;
		if (event.type === "message_update") deltas.push(event);
		else if (OBSERVED.has(event.type)) {
			if (event.type === "turn_start") deltas.clear();
			else deltas.markPast();
			applyEvent(activity, event);
		} else return;
		gate.request();
	};
	const unsubscribe = source.subscribe(observe, { types: ["message_update", ...OBSERVED] });
	return () => {
		unsubscribe();
		gate.close();
		// What came after the last update is still part of what was said.
		deltas.decodeInto(activity);
	};
}

/** Deltas that nobody has looked at yet. Only those that can still be seen when an update is due are decoded. */
class PendingDeltas {
	#deltas: Delta[] = [];
	#overflowed = false;
	/** Whether nothing has happened since the last delta: only then does it say what the child is doing. */
	#latest = false;

	push(delta: Delta): void {
		this.#latest = true;
		if (this.#deltas.length >= MAX_PENDING_DELTAS) {
			this.#deltas = this.#deltas.slice(MAX_PENDING_DELTAS / 2);
			this.#overflowed = true;
		}
		this.#deltas.push(delta);
	}

	markPast(): void {
		this.#latest = false;
	}

	clear(): void {
		this.#deltas = [];
		this.#overflowed = false;
		this.#latest = false;
	}

	decodeInto(activity: AgentActivity): void {
		const deltas = this.#deltas;
		if (deltas.length === 0) return;
		const before = this.#overflowed ? "" : activity.text;
		let phase: ActivityPhase | undefined;
		let text = "";
		// Newest first, until the tail is full: what lies before it is never decoded.
		for (let next = deltas.length - 1; next >= 0 && text.length < TEXT_CHARACTERS; next--) {
			const event = deltas[next]?.assistantMessageEvent;
			if (event?.type === "thinking_delta") phase ??= "thinking";
			if (event?.type !== "text_delta") continue;
			phase ??= "writing";
			text = event.delta + text;
		}
		// Two deltas may each hold half of a surrogate pair: joined first, cut afterwards.
		activity.text = (before + text).slice(-TEXT_CHARACTERS);
		if (this.#latest) activity.phase = phase ?? activity.phase;
		this.clear();
	}
}

const OBSERVED: ReadonlySet<AgentEvent["type"]> = new Set([
	"turn_start",
	"message_end",
	"tool_execution_start",
	"tool_execution_end",
	"auto_retry_start",
	"compaction_start",
	"compaction_end",
	"agent_settled",
]);

function applyEvent(activity: AgentActivity, event: AgentEvent): void {
	switch (event.type) {
		case "turn_start":
			activity.text = "";
			activity.note = "";
			activity.phase = "waiting";
			break;
		case "message_end":
			if (event.message.role === "assistant") activity.phase = "waiting";
			break;
		case "tool_execution_start":
			activity.activeTools.set(event.toolCallId, { name: event.toolName, args: event.args, startedAt: Date.now() });
			break;
		case "tool_execution_end":
			finishTool(activity, event);
			break;
		case "auto_retry_start":
			activity.phase = "retrying";
			activity.note = event.errorMessage;
			break;
		case "compaction_start":
			activity.phase = "compacting";
			break;
		case "compaction_end":
			activity.phase = "waiting";
			break;
		case "agent_settled":
			activity.phase = "settled";
			activity.activeTools.clear();
			break;
	}
}

function finishTool(activity: AgentActivity, event: Extract<AgentEvent, { type: "tool_execution_end" }>): void {
	const started = activity.activeTools.get(event.toolCallId);
	activity.activeTools.delete(event.toolCallId);
	// A call that was refused ends without ever starting.
	const tool = started ?? { name: event.toolName, args: undefined, startedAt: Date.now() };
	activity.recentTools.push({ ...tool, isError: event.isError });
	if (activity.recentTools.length > RECENT_TOOLS) activity.recentTools.shift();
}
