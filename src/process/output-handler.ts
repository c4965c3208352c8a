import type { OutputSource } from "./output-source.ts";

/** Anything a handler may emit: a plain object told apart by its `type`. */
export interface TypedEvent {
	readonly type: string;
}

/** What a handler is told about the child that it will watch. */
export interface HandlerContext<E extends TypedEvent = TypedEvent> {
	/** Which kind of process this is; factories are chosen by it. */
	readonly processLabel: string;
	readonly runId?: string | undefined;
	readonly planId?: string | undefined;
	readonly nodeId?: string | undefined;
	readonly worktreePath?: string | undefined;
	/** Hands an event to the subscribers of the bus, after all handlers have seen the current line. */
	emit(event: E): void;
	/** Whether anyone subscribed to this type now: a hot event that nobody wants need not be made. */
	wants(type: E["type"]): boolean;
}

/** A pattern matcher on the lines of one child. It holds what it extracted and may emit events. */
export interface OutputHandler {
	/** Unique on one bus. */
	readonly name: string;
	readonly sources: readonly OutputSource[];
	/** How many of the last lines `onLine` wants to see, oldest first. At least 1. */
	readonly windowSize: number;
	/**
	 * Called for every line of its sources with the last `min(lines so far, windowSize)` lines.
	 * The window belongs to the handler: it may keep or change it.
	 */
	onLine(window: string[], source: OutputSource): void;
	/**
	 * Called before `onLine` with the bytes of the line, from `start` to before `end`, without the line end. Returning true
	 * means "dealt with": the line is not decoded for this handler and `onLine` is not called. Only with `windowSize` 1.
	 * The bytes are never changed afterwards, but keeping them keeps the whole chunk alive.
	 */
	onBytes?(bytes: Buffer, start: number, end: number, source: OutputSource): boolean;
	/** Called once, when the bus is disposed. */
	dispose?(): void;
}

/** Makes handlers for the children whose label it names. */
export interface OutputHandlerFactory<E extends TypedEvent = TypedEvent> {
	/** Unique in a registry. */
	readonly name: string;
	/** Labels it serves; `"*"` serves every child. */
	readonly processFilter: readonly string[];
	/** Undefined means: not for this child. A throw counts as an error of this factory and blocks nobody. */
	create(context: HandlerContext<E>): OutputHandler | undefined;
}
