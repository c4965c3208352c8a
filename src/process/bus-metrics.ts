/** What went through a bus so far. A snapshot: it does not change after it was taken. */
export interface BusMetrics {
	/** Lines delivered, by source key. */
	readonly linesBySource: Readonly<Record<string, number>>;
	/** Calls of `onLine` or `onBytes`, by handler name. */
	readonly handlerInvocations: Readonly<Record<string, number>>;
	/** Errors thrown by handlers, and by factories while making one, by name. */
	readonly handlerErrors: Readonly<Record<string, number>>;
	/** Bytes fed, line ends included. */
	readonly bytes: number;
	/** Lines over the length limit. */
	readonly overlong: number;
	/** Decoded lines that were not valid UTF-8. */
	readonly undecodable: number;
	readonly subscriberErrors: number;
	readonly listenerErrors: number;
	/** The last error of any of them: who threw it and what it said. */
	readonly lastError: { readonly who: string; readonly message: string } | undefined;
}
