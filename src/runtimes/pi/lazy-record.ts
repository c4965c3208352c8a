import { type JsonRecord, parseRecord } from "./parse-record.ts";

/** Told of a line that turned out to be no record when somebody looked inside. */
export type OnUnreadable = () => void;

/** What a lazy event is made of: the bytes from `start` to before `end`. */
export type LazyEventArguments = readonly [bytes: Buffer, start: number, end: number, onUnreadable: OnUnreadable];

const UNREADABLE: JsonRecord = { type: "unreadable" };

/** How much of the start or end of a line is looked at for a field, in bytes. */
const EDGE_BYTES = 512;

/**
 * A record whose line is decoded when somebody first looks inside. Most lines of a stream are never looked at: they cost a
 * comparison of their first bytes.
 */
export abstract class LazyRecord {
	readonly #bytes: Buffer;
	readonly #start: number;
	readonly #end: number;
	readonly #onUnreadable: OnUnreadable;
	#record: JsonRecord | undefined;

	constructor(bytes: Buffer, start: number, end: number, onUnreadable: OnUnreadable) {
		this.#bytes = bytes;
		this.#start = start;
		this.#end = end;
		this.#onUnreadable = onUnreadable;
	}

	/** The line as it came, for whoever stores it: encoding it again would be for nothing. Undefined if it is no record. */
	get rawJson(): string | undefined {
		return this.record === UNREADABLE ? undefined : this.#text;
	}

	get #text(): string {
		return this.#bytes.toString("utf8", this.#start, this.#end);
	}

	protected get record(): JsonRecord {
		if (!this.#record) {
			const parsed = parseRecord(this.#text);
			if (parsed.kind !== "record") this.#onUnreadable();
			this.#record = parsed.kind === "record" ? parsed.record : UNREADABLE;
		}
		return this.#record;
	}

	/** The first bytes of the line, one character each. */
	protected get head(): string {
		return this.#bytes.toString("latin1", this.#start, Math.min(this.#end, this.#start + EDGE_BYTES));
	}

	/** The last bytes of the line, one character each. */
	protected get tail(): string {
		return this.#bytes.toString("latin1", Math.max(this.#start, this.#end - EDGE_BYTES), this.#end);
	}

	/** Whether some bytes occur in the line. */
	protected holds(text: string): boolean {
		return this.#bytes.subarray(this.#start, this.#end).includes(text, 0, "latin1");
	}
}
