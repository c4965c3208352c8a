import type { AgentEvent, ChildEvent } from "../../events/agent-event.ts";
import {
	type HandlerContext,
	type OutputHandler,
	type OutputHandlerFactory,
	OutputSources,
} from "../../process/index.ts";
import {
	LazyAgentEnd,
	LazyMessageStart,
	LazyMessageUpdate,
	LazyToolEnd,
	LazyToolResultEnd,
	LazyToolUpdate,
	LazyTurnEnd,
} from "./lazy-events.ts";
import type { LazyEventArguments, OnUnreadable } from "./lazy-record.ts";
import { narrowEvent } from "./narrow-event.ts";
import { parseRecord } from "./parse-record.ts";

export const PI_LABEL = "pi";
export const PI_EVENTS_HANDLER = "pi-events";

/** How much of the first line that is no record is kept, in characters. */
const NOISE_SAMPLE_CHARACTERS = 200;
/** How many errors of the child's extensions are kept. */
const MAX_EXTENSION_ERRORS = 5;

/** What the stream of a pi child has said so far that decides its outcome. */
export interface PiStreamFacts {
	/** From the header of JSON mode; RPC mode has none. */
	readonly sessionId: string | undefined;
	/** A prompt was taken up. */
	readonly started: boolean;
	/** Nothing more will come of the last prompt; unset again when another run starts. */
	readonly settled: { readonly aborted: boolean } | undefined;
	readonly lastAssistant: AssistantFacts | undefined;
	/** The last text of any assistant message that had one, for a run whose answer is empty. */
	readonly lastText: string;
	/** Lines that were no records, and the start of the first of them. */
	readonly noiseLines: number;
	readonly noiseSample: string;
	/** Records whose type is known and whose shape is not that of the type. */
	readonly malformedRecords: number;
	/** Errors of the child's own extensions, the first few. */
	readonly extensionErrors: readonly string[];
}

export interface AssistantFacts {
	readonly stopReason: string;
	/** What the provider called it. */
	readonly rawStopReason: string | undefined;
	readonly errorMessage: string | undefined;
	readonly provider: string | undefined;
	readonly model: string | undefined;
	readonly text: string;
}

/** Turns the lines of a pi child into events, and keeps the facts its outcome is decided from. */
export class PiEventsHandler implements OutputHandler {
	readonly name = PI_EVENTS_HANDLER;
	readonly sources = [OutputSources.stdout];
	readonly windowSize = 1;
	readonly #context: Pick<HandlerContext<ChildEvent>, "emit" | "wants">;
	#facts: PiStreamFacts = {
		sessionId: undefined,
		started: false,
		settled: undefined,
		lastAssistant: undefined,
		lastText: "",
		noiseLines: 0,
		noiseSample: "",
		malformedRecords: 0,
		extensionErrors: [],
	};

	constructor(context: Pick<HandlerContext<ChildEvent>, "emit" | "wants">) {
		this.#context = context;
	}

	getFacts(): PiStreamFacts {
		return this.#facts;
	}

	/** The records that make up most of a stream are recognised by their first bytes and decoded by whoever wants them. */
	onBytes(bytes: Buffer, start: number, end: number): boolean {
		const hot = hotEventOf(bytes, start, end);
		if (!hot) return false;
		if (this.#context.wants(hot.type)) this.#context.emit(new hot.Event(bytes, start, end, this.#onUnreadable));
		return true;
	}

	onLine([line = ""]: string[]): void {
		const parsed = parseRecord(line);
		if (parsed.kind === "blank") return;
		if (parsed.kind === "noise") {
			this.#noteNoise(line);
			return;
		}
		const event = narrowEvent(parsed.record);
		if (!event) {
			this.#update({ malformedRecords: this.#facts.malformedRecords + 1 });
			return;
		}
		this.#extract(event);
		this.#context.emit(event);
	}

	#extract(event: ChildEvent): void {
		switch (event.type) {
			case "session":
				this.#update({ sessionId: this.#facts.sessionId ?? event.id });
				break;
			case "agent_start":
				this.#update({ started: true, settled: undefined });
				break;
			case "agent_settled":
				this.#update({ settled: { aborted: event.aborted } });
				break;
			case "message_end":
				if (event.message.role === "assistant") this.#noteAssistant(event.message);
				break;
			case "extension_error":
				if (this.#facts.extensionErrors.length < MAX_EXTENSION_ERRORS)
					this.#update({ extensionErrors: [...this.#facts.extensionErrors, describeExtensionError(event)] });
				break;
		}
	}

	#noteAssistant(message: AssistantMessage): void {
		const text = textOf(message.content);
		this.#update({
			lastAssistant: {
				stopReason: textOrUndefined(message.stopReason) ?? "",
				rawStopReason: textOrUndefined(message.rawStopReason),
				errorMessage: textOrUndefined(message.errorMessage),
				provider: textOrUndefined(message.provider),
				model: textOrUndefined(message.model),
				text,
			},
			...(text.trim() ? { lastText: text } : {}),
		});
	}

	#noteNoise(line: string): void {
		const { noiseLines, noiseSample } = this.#facts;
		this.#update({
			noiseLines: noiseLines + 1,
			noiseSample: noiseSample || line.slice(0, NOISE_SAMPLE_CHARACTERS).toWellFormed(),
		});
	}

	readonly #onUnreadable: OnUnreadable = () => this.#noteNoise("");

	#update(changes: Partial<PiStreamFacts>): void {
		this.#facts = { ...this.#facts, ...changes };
	}
}

export const piEventsHandlerFactory: OutputHandlerFactory<ChildEvent> = {
	name: PI_EVENTS_HANDLER,
	processFilter: [PI_LABEL],
	create: (context) => new PiEventsHandler(context),
};

type AssistantMessage = Extract<Extract<AgentEvent, { type: "message_end" }>["message"], { role: "assistant" }>;

/** A field that should be a text. The child's word for it is not enough: what comes here is stored and shown. */
function textOrUndefined(value: unknown): string | undefined {
	if (value === undefined || value === null || typeof value === "string") return value ?? undefined;
	return JSON.stringify(value);
}

/** The text of a message without its thinking and tool calls. Tolerates content of another shape: it comes from outside. */
function textOf(content: unknown): string {
	if (typeof content === "string") return content;
	if (!Array.isArray(content)) return "";
	return content
		.filter((part) => part?.type === "text" && typeof part.text === "string")
		.map((part) => part.text)
		.join("");
}

function describeExtensionError(event: Extract<ChildEvent, { type: "extension_error" }>): string {
	const { extensionPath: path, event: name, error } = event;
	const when = textOrUndefined(name);
	return `${textOrUndefined(path) ?? "extension"}${when ? ` (${when})` : ""}: ${textOrUndefined(error) ?? "unknown error"}`;
}

interface HotEvent {
	readonly type: AgentEvent["type"];
	readonly prefix: Buffer;
	readonly Event: new (...line: LazyEventArguments) => AgentEvent;
}

function hot(type: AgentEvent["type"], Event: HotEvent["Event"], rest = ""): HotEvent {
	return { type, prefix: Buffer.from(`{"type":"${type}"${rest}`), Event };
}

const HOT_EVENTS: readonly HotEvent[] = [
	hot("message_update", LazyMessageUpdate),
	hot("tool_execution_update", LazyToolUpdate),
	hot("tool_execution_end", LazyToolEnd),
	hot("message_end", LazyToolResultEnd, ',"message":{"role":"toolResult"'),
	hot("message_start", LazyMessageStart),
	hot("turn_end", LazyTurnEnd),
	hot("agent_end", LazyAgentEnd),
];

const CLOSING_BRACE = 0x7d;

/** A record cut by a crash lacks its last brace: it is left to the slow path, which counts it. */
function hotEventOf(bytes: Buffer, start: number, end: number): HotEvent | undefined {
	if (bytes[end - 1] !== CLOSING_BRACE) return undefined;
	for (const event of HOT_EVENTS) if (startsWith(bytes, start, end, event.prefix)) return event;
	return undefined;
}

function startsWith(bytes: Buffer, start: number, end: number, prefix: Buffer): boolean {
	if (end - start < prefix.length) return false;
	// Backwards: all prefixes share their first bytes.
	for (let i = prefix.length - 1; i >= 0; i--) if (bytes[start + i] !== prefix[i]) return false;
	return true;
}
