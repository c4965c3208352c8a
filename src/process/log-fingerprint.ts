/** Bytes remembered of the start of a file: where logs have a banner with a time, even if their lines repeat. */
export const HEAD_BYTES = 256;
/** Bytes remembered before the offset. */
export const TAIL_BYTES = 1024;

/**
 * What is remembered of the bytes already read from a file. A file that was truncated and grew past the old offset
 * between two looks has the same inode and a plausible size: only its content tells.
 */
export class LogFingerprint {
	/** The first bytes of the file. */
	#head: Buffer = Buffer.alloc(0);
	/** The bytes just before the offset. */
	#tail: Buffer = Buffer.alloc(0);

	get tailLength(): number {
		return this.#tail.length;
	}

	/** Bytes of the start of the file to compare; 0 if the tail reaches back to the start. `offset` is in bytes. */
	headLengthToCheck(offset: number): number {
		return offset <= this.#tail.length ? 0 : this.#head.length;
	}

	/** Remembers a file that is followed from `offset`, from bytes that were read for this purpose. */
	set(head: Buffer, tail: Buffer): void {
		this.#head = Buffer.from(head);
		this.#tail = Buffer.from(tail);
	}

	matchesHead(start: Buffer): boolean {
		return this.#head.equals(start);
	}

	/** Whether a read that began `tailLength` before the offset starts with the remembered bytes. */
	matchesTail(read: Buffer): boolean {
		return read.length >= this.#tail.length && this.#tail.equals(read.subarray(0, this.#tail.length));
	}

	/** The offset moved on: `read` is the remembered tail followed by the bytes between `offset` and the new offset. */
	advance(read: Buffer, offset: number): void {
		if (offset === this.#head.length && offset < HEAD_BYTES) {
			const fresh = read.subarray(this.#tail.length, this.#tail.length + HEAD_BYTES - offset);
			this.#head = Buffer.concat([this.#head, fresh]);
		}
		// Copied: a slice would keep the whole chunk in memory.
		this.#tail = Buffer.from(read.subarray(Math.max(0, read.length - TAIL_BYTES)));
	}

	clear(): void {
		this.#head = Buffer.alloc(0);
		this.#tail = Buffer.alloc(0);
	}
}
