import type { HandlerContext, OutputHandler, OutputHandlerFactory, TypedEvent } from "./output-handler.ts";

/** Told of a factory that threw: its name and what it threw. */
export type FactoryErrorListener = (name: string, error: unknown) => void;

/** The handler factories of a program, chosen per child by its label. */
export class OutputHandlerRegistry<E extends TypedEvent = TypedEvent> {
	readonly #factories = new Map<string, OutputHandlerFactory<E>>();
	#errors = 0;

	/** @throws TypeError when a factory of that name is registered already */
	registerFactory(factory: OutputHandlerFactory<E>): void {
		if (this.#factories.has(factory.name))
			throw new TypeError(`Output handler factory "${factory.name}" is registered already.`);
		this.#factories.set(factory.name, factory);
	}

	/** Errors thrown by factories so far. */
	get errors(): number {
		return this.#errors;
	}

	/**
	 * Makes the handlers for one child, in order of registration. A factory that throws is skipped and counted.
	 * @param onError additionally told of each such error
	 */
	createHandlers(context: HandlerContext<E>, onError?: FactoryErrorListener): OutputHandler[] {
		const handlers: OutputHandler[] = [];
		for (const factory of this.#factories.values()) {
			if (!factory.processFilter.includes("*") && !factory.processFilter.includes(context.processLabel)) continue;
			try {
				const handler = factory.create(context);
				if (handler) handlers.push(handler);
			} catch (error) {
				this.#errors++;
				onError?.(factory.name, error);
			}
		}
		return handlers;
	}
}
