import { StringDecoder } from "node:string_decoder";

const LF = 0x0a;
const CR = 0x0d;

/** How much of an overlong line is kept to recognise it by, in bytes. */
const HEAD_BYTES = 4096;

export interface LineSink {
	/** One line without its line end: the bytes from `start` to before `end`. They are not changed afterwards. */
	onLine(bytes: Buffer, start: number, end: number): void;
	/** A line longer than the limit has ended: its length in bytes and its first 4 KiB as text. */
	onOverlong(bytes: number, head: string): void;
}

/**
 * Cuts a byte stream into lines on the byte LF alone, dropping one CR before it. Characters are never cut, since nothing
 * is decoded here. A line costs time in proportion to its length, however many chunks it came in.
 */
export class LineSplitter {
	readonly #sink: LineSink;
	readonly #maxLineBytes: number;
	/** Chunks of the line that has not ended yet, and their total length. */
	#pending: Buffer[] = [];
	#pendingBytes = 0;
	/** Set while an overlong line is skipped: what was kept of it, and whether its last byte so far is a CR. */
	#skipped: { head: Buffer; bytes: number; endsInCr: boolean } | undefined;

	/** @param maxLineBytes longest line that is delivered, in bytes without the line end */
	constructor(sink: LineSink, maxLineBytes: number) {
		this.#sink = sink;
		this.#maxLineBytes = maxLineBytes;
	}

	push(chunk: Buffer): void {
		let start = 0;
		let at = chunk.indexOf(LF);
		if (at !== -1 && (this.#pendingBytes > 0 || this.#skipped)) {
			if (at > 0) this.#hold(chunk.subarray(0, at));
			this.#finishHeld(true);
			start = at + 1;
			at = chunk.indexOf(LF, start);
		}
		// Most lines lie within one chunk: they are passed on as a range of it, without an object of their own.
		while (at !== -1) {
			this.#deliver(chunk, start, at, true);
			start = at + 1;
			at = chunk.indexOf(LF, start);
		}
		if (start < chunk.length) this.#hold(start === 0 ? chunk : chunk.subarray(start));
	}

	/** Delivers a last line that has no line end. Pushing may go on afterwards. */
	end(): void {
		if (this.#pendingBytes > 0 || this.#skipped) this.#finishHeld(false);
	}

	#hold(part: Buffer): void {
		if (this.#skipped) {
			this.#skipped.bytes += part.length;
			this.#skipped.endsInCr = part[part.length - 1] === CR;
			return;
		}
		this.#pending.push(part);
		this.#pendingBytes += part.length;
		// One byte more than the limit may still be the CR of the line end.
		if (this.#pendingBytes > this.#maxLineBytes + 1) this.#startSkipping();
	}

	#startSkipping(): void {
		const held = this.#takePending();
		this.#skipped = {
			head: Buffer.from(held.subarray(0, HEAD_BYTES)),
			bytes: held.length,
			endsInCr: held[held.length - 1] === CR,
		};
	}

	#finishHeld(dropCr: boolean): void {
		if (this.#skipped) {
			const { head, bytes, endsInCr } = this.#skipped;
			this.#skipped = undefined;
			this.#sink.onOverlong(bytes - (dropCr && endsInCr ? 1 : 0), new StringDecoder("utf8").write(head));
			return;
		}
		const line = this.#takePending();
		this.#deliver(line, 0, line.length, dropCr);
	}

	#deliver(bytes: Buffer, start: number, lineEnd: number, dropCr: boolean): void {
		const end = dropCr && lineEnd > start && bytes[lineEnd - 1] === CR ? lineEnd - 1 : lineEnd;
		if (end - start <= this.#maxLineBytes) this.#sink.onLine(bytes, start, end);
		else
			this.#sink.onOverlong(
				end - start,
				new StringDecoder("utf8").write(bytes.subarray(start, Math.min(end, start + HEAD_BYTES))),
			);
	}

	#takePending(): Buffer {
		const line =
			this.#pending.length === 1 ? (this.#pending[0] as Buffer) : Buffer.concat(this.#pending, this.#pendingBytes);
		this.#pending = [];
		this.#pendingBytes = 0;
		return line;
	}
}
