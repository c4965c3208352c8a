import type { OutputSource } from "./output-source.ts";

const LF = 10;

/** What the tailer needs of a bus. The bus splits into lines; after `end`, which ends an open line, it may be fed on. */
export interface LineSink {
	feed(bytes: Buffer, source: OutputSource): void;
	end(source: OutputSource): void;
}

/**
 * Feeds the bytes of several files into one source without ever mixing two files inside a line: complete lines go on
 * as they are, and the bytes after the last LF are held, per file, until the line is complete or flushed. A held line
 * that outgrows `maxLineBytes` is overlong whatever follows: it is streamed on, so that memory stays bounded, and if
 * another file has a line meanwhile, it is ended there and its rest is skipped up to the next LF.
 */
export class LogLineFeeder {
	readonly #sink: LineSink;
	readonly #source: OutputSource;
	readonly #maxHeldBytes: number;
	/** The overlong line that is open in the sink at present. */
	#streaming: LogPartialLine | undefined;
	#linesFed = 0;

	constructor(sink: LineSink, source: OutputSource, maxHeldBytes: number) {
		this.#sink = sink;
		this.#source = source;
		this.#maxHeldBytes = maxHeldBytes;
	}

	get linesFed(): number {
		return this.#linesFed;
	}

	/** Takes the next bytes of a file. They belong to the sink afterwards. */
	push(partial: LogPartialLine, bytes: Buffer): void {
		let rest = bytes;
		if (partial.skipping) {
			const lf = rest.indexOf(LF);
			if (lf < 0) return;
			partial.skipping = false;
			rest = rest.subarray(lf + 1);
		}
		const lastLf = rest.lastIndexOf(LF);
		if (lastLf >= 0) {
			this.#claim(partial);
			this.#feedHeld(partial);
			const lines = rest.subarray(0, lastLf + 1);
			this.#linesFed += countLineFeeds(lines);
			this.#streaming = undefined;
			this.#sink.feed(lines, this.#source);
			rest = rest.subarray(lastLf + 1);
		}
		if (rest.length === 0) return;
		if (this.#streaming === partial) {
			this.#sink.feed(rest, this.#source);
			return;
		}
		// Padding in front of a line may be as long as the file was before it was truncated.
		partial.append(partial.length === 0 ? withoutLeadingNuls(rest) : rest);
		if (partial.length <= this.#maxHeldBytes) return;
		this.#claim(partial);
		this.#streaming = partial;
		this.#feedHeld(partial);
	}

	/** Delivers what is held of an unfinished line, if anything, as a line of its own. */
	flush(partial: LogPartialLine): void {
		if (this.#streaming === partial) {
			this.#streaming = undefined;
		} else if (partial.length > 0) {
			this.#claim(partial);
			this.#feedHeld(partial);
		} else {
			return;
		}
		this.#linesFed++;
		this.#sink.end(this.#source);
	}

	/** Makes sure that the sink is at the start of a line or inside the line of this file. */
	#claim(partial: LogPartialLine): void {
		const other = this.#streaming;
		if (other === undefined || other === partial) return;
		other.skipping = true;
		this.#streaming = undefined;
		this.#linesFed++;
		this.#sink.end(this.#source);
	}

	#feedHeld(partial: LogPartialLine): void {
		if (partial.length > 0) this.#sink.feed(partial.take(), this.#source);
	}
}

/** The bytes of one file since its last LF. */
export class LogPartialLine {
	/** Whether the rest of the present line is dropped, because its start was not read or is already delivered. */
	skipping = false;
	#buffer: Buffer = Buffer.alloc(0);
	#length = 0;

	/** Held bytes. */
	get length(): number {
		return this.#length;
	}

	append(bytes: Buffer): void {
		const needed = this.#length + bytes.length;
		if (needed > this.#buffer.length) {
			// Doubling keeps the cost per byte constant, however small the pieces of a long line are.
			const grown = Buffer.allocUnsafeSlow(Math.max(needed, this.#buffer.length * 2));
			this.#buffer.copy(grown, 0, 0, this.#length);
			this.#buffer = grown;
		}
		bytes.copy(this.#buffer, this.#length);
		this.#length = needed;
	}

	/** Hands the held bytes over and holds nothing afterwards. */
	take(): Buffer {
		const bytes = this.#buffer.subarray(0, this.#length);
		this.#buffer = Buffer.alloc(0);
		this.#length = 0;
		return bytes;
	}
}

function withoutLeadingNuls(bytes: Buffer): Buffer {
	let start = 0;
	while (bytes[start] === 0) start++;
	return bytes.subarray(start);
}

function countLineFeeds(bytes: Buffer): number {
	let count = 0;
	for (let at = bytes.indexOf(LF); at >= 0; at = bytes.indexOf(LF, at + 1)) count++;
	return count;
}
