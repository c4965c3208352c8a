import { isUtf8 } from "node:buffer";
import type { BusMetrics } from "./bus-metrics.ts";
import { EventSubscriptions } from "./event-subscriptions.ts";
import { LineSplitter } from "./line-splitter.ts";
import { callGuarded, Listeners } from "./listeners.ts";
import type { OutputHandler, TypedEvent } from "./output-handler.ts";
import { type OutputSource, sourceKey } from "./output-source.ts";

/** Longest line in bytes unless told otherwise: 64 MiB, so that no JSON record of a known CLI is torn. */
export const DEFAULT_MAX_LINE_BYTES = 64 * 1024 * 1024;

/** Sent to subscribers when a line over the limit has ended. No handler sees that line. */
export interface OverlongEvent {
	readonly type: "overlong";
	readonly source: OutputSource;
	/** Length of the line in bytes. */
	readonly bytes: number;
	/** Its first 4 KiB as text. */
	readonly head: string;
}

export interface OutputBusOptions {
	/** Longest line in bytes. Default 64 MiB. */
	readonly maxLineBytes?: number | undefined;
	/** The same for single sources, by source key. */
	readonly maxLineBytesBySource?: Readonly<Record<string, number | undefined>> | undefined;
}

export type LineListener = (line: string, source: OutputSource) => void;

type Listener<E> = (event: E) => void;

/** A handler on one source, with the lines it still has to see again. */
interface Route {
	readonly handler: OutputHandler;
	/** Shared by all routes of the handler. */
	readonly counter: { calls: number };
	readonly history: string[];
}

/** What the bus keeps for one source. */
interface SourceState {
	readonly source: OutputSource;
	readonly splitter: LineSplitter;
	routes: readonly Route[];
	lines: number;
}

/**
 * The one place through which all output of a child goes: bytes in, lines to handlers, their events to subscribers.
 * Per line: handlers in order of registration, then subscribers, then line listeners. An error in any of them is counted
 * and reaches no other. Nothing here buffers more than one unfinished line per source.
 */
export class ProcessOutputBus<E extends TypedEvent = TypedEvent> {
	readonly #options: OutputBusOptions;
	readonly #handlers = new Map<string, OutputHandler>();
	readonly #sources = new Map<string, SourceState>();
	readonly #events = new EventSubscriptions<E | OverlongEvent>((error, type) => {
		this.#subscriberErrors++;
		this.#noteError(`subscriber of ${type}`, error);
	});
	readonly #counters = new Map<string, { calls: number }>();
	readonly #handlerErrors = new Map<string, number>();
	/** Events emitted while handlers look at a line; sent when all of them have seen it. */
	readonly #queue: (E | OverlongEvent)[] = [];
	#dispatching = false;
	readonly #lineListeners = new Listeners<[line: string, source: OutputSource]>((error) =>
		this.noteListenerError("line listener", error),
	);
	#bytes = 0;
	#overlong = 0;
	#undecodable = 0;
	#subscriberErrors = 0;
	#listenerErrors = 0;
	#lastError: { who: string; message: string } | undefined;
	#disposed = false;

	constructor(options: OutputBusOptions = {}) {
		this.#options = options;
	}

	/** The handler of that name, for reading what it extracted; undefined if there is none. Works after `dispose()`. */
	getHandler(name: string): OutputHandler | undefined {
		return this.#handlers.get(name);
	}

	/** Names in order of registration. */
	getHandlerNames(): string[] {
		return [...this.#handlers.keys()];
	}

	getMetrics(): BusMetrics {
		return {
			linesBySource: Object.fromEntries([...this.#sources].map(([key, state]) => [key, state.lines])),
			handlerInvocations: Object.fromEntries([...this.#counters].map(([name, { calls }]) => [name, calls])),
			handlerErrors: Object.fromEntries(this.#handlerErrors),
			bytes: this.#bytes,
			overlong: this.#overlong,
			undecodable: this.#undecodable,
			subscriberErrors: this.#subscriberErrors,
			listenerErrors: this.#listenerErrors,
			lastError: this.#lastError && { ...this.#lastError },
		};
	}

	/**
	 * Listens to events, all of them or only those of the given types.
	 * @returns the unsubscribe function
	 */
	subscribe(listener: Listener<E | OverlongEvent>): () => void;
	subscribe<T extends (E | OverlongEvent)["type"]>(
		listener: Listener<Extract<E | OverlongEvent, { type: T }>>,
		options: { readonly types?: readonly T[] | undefined },
	): () => void;
	subscribe(listener: (event: never) => void, options?: { readonly types?: readonly string[] | undefined }) {
		if (this.#disposed) return () => undefined;
		// The overloads promise the listener only what its types let through, which is what the table delivers.
		return this.#events.add(listener as Listener<E | OverlongEvent>, options?.types);
	}

	/** Whether an event of this type would reach anyone now. */
	wants(type: E["type"]): boolean {
		return this.#events.wants(type);
	}

	/** Listens to every line of every source as text. @returns the unsubscribe function */
	subscribeLines(listener: LineListener): () => void {
		if (this.#disposed) return () => undefined;
		return this.#lineListeners.add(listener);
	}

	/**
	 * Adds a handler; it sees lines from now on.
	 * @throws TypeError for a name that is taken or a window size that is no whole number from 1 on
	 */
	register(handler: OutputHandler): void {
		if (this.#handlers.has(handler.name))
			throw new TypeError(`Output handler "${handler.name}" is registered already.`);
		if (!Number.isInteger(handler.windowSize) || handler.windowSize < 1)
			throw new TypeError(`Output handler "${handler.name}": windowSize must be a whole number from 1 on.`);
		if (handler.onBytes && handler.windowSize !== 1)
			throw new TypeError(`Output handler "${handler.name}": onBytes needs windowSize 1.`);
		if (this.#disposed) return;
		this.#handlers.set(handler.name, handler);
		this.#counters.set(handler.name, { calls: 0 });
		for (const state of this.#sources.values()) state.routes = this.#withRoute(state.routes, handler, state.source);
	}

	/** Hands an event to the subscribers: at once, or after the handlers if they are looking at a line. */
	emit(event: E): void {
		this.#emit(event);
	}

	/** Counts an error that happened while a handler was made. For whoever creates handlers. */
	noteHandlerError(name: string, error: unknown): void {
		this.#handlerErrors.set(name, (this.#handlerErrors.get(name) ?? 0) + 1);
		this.#noteError(`handler ${name}`, error);
	}

	/** Counts an error of somebody who listens to the process rather than to the bus. For the managed process alone. */
	noteListenerError(who: string, error: unknown): void {
		this.#listenerErrors++;
		this.#noteError(who, error);
	}

	/** Takes bytes of one source. For the managed process and the tailer alone. */
	feed(bytes: Uint8Array, source: OutputSource): void {
		if (this.#disposed) return;
		this.#bytes += bytes.length;
		const buffer = Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
		this.#stateOf(source).splitter.push(buffer);
	}

	/** Delivers the unfinished last line of a source, if there is one. For the managed process and the tailer alone. */
	end(source: OutputSource): void {
		if (this.#disposed) return;
		this.#stateOf(source).splitter.end();
	}

	/** Ends the bus: handlers are disposed, subscribers and listeners let go. Getters still answer. Idempotent. */
	dispose(): void {
		if (this.#disposed) return;
		this.#disposed = true;
		for (const handler of this.#handlers.values())
			if (handler.dispose)
				callGuarded(
					() => handler.dispose?.(),
					(error) => this.noteHandlerError(handler.name, error),
				);
		this.#events.clear();
		this.#lineListeners.clear();
		for (const state of this.#sources.values()) state.routes = [];
	}

	#stateOf(source: OutputSource): SourceState {
		const key = sourceKey(source);
		const known = this.#sources.get(key);
		if (known) return known;
		const limit = this.#options.maxLineBytesBySource?.[key] ?? this.#options.maxLineBytes ?? DEFAULT_MAX_LINE_BYTES;
		const state: SourceState = {
			source,
			splitter: new LineSplitter(
				{
					onLine: (bytes, start, end) => this.#onLine(state, bytes, start, end),
					onOverlong: (bytes, head) => {
						this.#overlong++;
						this.#emit({ type: "overlong", source, bytes, head });
					},
				},
				limit,
			),
			routes: [],
			lines: 0,
		};
		for (const handler of this.#handlers.values()) state.routes = this.#withRoute(state.routes, handler, source);
		this.#sources.set(key, state);
		return state;
	}

	#withRoute(routes: readonly Route[], handler: OutputHandler, source: OutputSource): readonly Route[] {
		const key = sourceKey(source);
		const counter = this.#counters.get(handler.name);
		if (!counter || !handler.sources.some((wanted) => sourceKey(wanted) === key)) return routes;
		return [...routes, { handler, counter, history: [] }];
	}

	#onLine(state: SourceState, bytes: Buffer, lineStart: number, end: number): void {
		// Somebody may have disposed the bus while the rest of a chunk was still to come.
		if (this.#disposed) return;
		const start = state.source.type === "log-file" ? skipPadding(bytes, lineStart, end) : lineStart;
		if (start === end && lineStart !== end) return;
		state.lines++;
		let text: string | undefined;
		this.#dispatching = true;
		for (const route of state.routes) {
			if (this.#disposed) break;
			const { handler } = route;
			route.counter.calls++;
			try {
				if (handler.onBytes?.(bytes, start, end, state.source)) continue;
				text ??= this.#decode(bytes, start, end);
				const result: unknown = handler.onLine(windowOf(route, text), state.source);
				if (result instanceof Promise) result.catch((error) => this.noteHandlerError(handler.name, error));
			} catch (error) {
				this.noteHandlerError(handler.name, error);
			}
		}
		this.#dispatching = false;
		if (this.#queue.length > 0) this.#flush();
		if (this.#lineListeners.size > 0) this.#lineListeners.call(text ?? this.#decode(bytes, start, end), state.source);
	}

	#decode(bytes: Buffer, start: number, end: number): string {
		const text = bytes.toString("utf8", start, end);
		if (text.includes("\uFFFD") && !isUtf8(bytes.subarray(start, end))) this.#undecodable++;
		return text;
	}

	#emit(event: E | OverlongEvent): void {
		if (this.#disposed) return;
		this.#queue.push(event);
		if (!this.#dispatching) this.#flush();
	}

	#flush(): void {
		// What a subscriber causes to be emitted waits its turn, so that everybody sees events in one order.
		this.#dispatching = true;
		for (let next = 0; next < this.#queue.length; next++) {
			const event = this.#queue[next];
			if (event) this.#events.dispatch(event);
		}
		this.#queue.length = 0;
		this.#dispatching = false;
	}

	#noteError(who: string, error: unknown): void {
		this.#lastError = { who, message: error instanceof Error ? error.message : String(error) };
	}
}

/** The lines a handler is to see, in an array of its own. */
function windowOf({ handler, history }: Route, text: string): string[] {
	if (handler.windowSize === 1) return [text];
	history.push(text);
	if (history.length > handler.windowSize) history.shift();
	return history.slice();
}

/**
 * A truncated file refilled by a writer at its old offset starts with NULs: padding, not content.
 * @returns where the content starts; `end` if there is none
 */
function skipPadding(bytes: Buffer, start: number, end: number): number {
	let at = start;
	while (at < end && bytes[at] === 0) at++;
	return at;
}
