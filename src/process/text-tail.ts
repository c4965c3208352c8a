import { StringDecoder } from "node:string_decoder";

/** Longest character in UTF-8. */
const MAX_CHARACTER_BYTES = 4;

/** Keeps the end of a byte stream, bounded in bytes, readable as text that starts and ends at a character. */
export class TextTail {
	readonly #maxBytes: number;
	#chunks: Buffer[] = [];
	#bytes = 0;

	/** @param maxBytes how much to keep, in bytes */
	constructor(maxBytes: number) {
		this.#maxBytes = maxBytes;
	}

	push(chunk: Buffer): void {
		this.#chunks.push(chunk);
		this.#bytes += chunk.length;
		// Rebuilt only when twice the limit is held, so that the cost per byte stays constant.
		if (this.#bytes > this.#maxBytes * 2 + MAX_CHARACTER_BYTES) this.#compact();
	}

	#compact(): void {
		const all = this.#chunks.length === 1 ? (this.#chunks[0] as Buffer) : Buffer.concat(this.#chunks);
		// Some bytes more than the limit, the length of a character, tell `toString` that the start is a cut.
		const tail = Buffer.from(all.subarray(Math.max(0, all.length - this.#maxBytes - MAX_CHARACTER_BYTES)));
		this.#chunks = [tail];
		this.#bytes = tail.length;
	}

	/** The kept text. Bytes that are not UTF-8 read as U+FFFD. */
	toString(): string {
		const all = Buffer.concat(this.#chunks);
		let start = Math.max(0, all.length - this.#maxBytes);
		// A cut may fall inside a character: skip its continuation bytes (10xxxxxx), at most three.
		if (start > 0) for (let i = 0; i < 3 && start < all.length && (all[start] as number) >> 6 === 0b10; i++) start++;
		// The decoder holds back an unfinished last character instead of reporting it as U+FFFD.
		return new StringDecoder("utf8").write(all.subarray(start));
	}
}

/** The last `count` characters (UTF-16 units) of a text, never starting inside a surrogate pair. */
export function lastCharacters(text: string, count: number): string {
	if (text.length <= count) return text;
	const tail = text.slice(-count);
	const first = tail.charCodeAt(0);
	return first >= 0xdc00 && first <= 0xdfff ? tail.slice(1) : tail;
}
