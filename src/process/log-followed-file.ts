import * as fs from "node:fs";
import { promisify } from "node:util";
import { type HrTimestamp, hrNow } from "./hr-timestamp.ts";
import { HEAD_BYTES, LogFingerprint, TAIL_BYTES } from "./log-fingerprint.ts";
import { type LogLineFeeder, LogPartialLine } from "./log-line-feeder.ts";
import { fileId, type LogCandidate } from "./log-look.ts";
import type { LogCounters } from "./log-tailer-metrics.ts";

/** Bytes read, and handed over, at a time. */
const CHUNK_BYTES = 128 * 1024;
/** Bytes asked for when a notice says that a file grew. */
const AHEAD_BYTES = 4 * 1024;
/** Bytes asked for beyond the known size: a short read then proves that the end was reached. */
const SLACK_BYTES = 1024;
/** Bytes beyond the known size after which one catch-up ends, however fast the file grows meanwhile. */
const CHASE_BYTES = 1024 * 1024;
/** A modification time younger than this may stand for a later change as well, as file systems round it. */
const RACY_MS = 2000;

// Without O_NONBLOCK, opening a FIFO that took the place of a log would hang. Windows does not have it.
const OPEN_FLAGS = fs.constants.O_RDONLY | (fs.constants.O_NONBLOCK ?? 0);

/**
 * One file, whatever its name is at present, read from its own offset. While its descriptor is open its inode cannot
 * be reused, and it is read to its end although it was renamed or deleted.
 */
export class LogFollowedFile {
	readonly id: string;
	/** Its present path. Undefined once another file has its name. */
	path: string | undefined;
	readonly partial = new LogPartialLine();
	/** When bytes last arrived, or when it was first seen. */
	lastGrowth: HrTimestamp = hrNow();
	/** Whether no directory names it any more. */
	deleted = false;
	/** Whether there is more than the last catch-up read. */
	behind = false;
	readonly #birthtimeNs: bigint;
	readonly #counters: LogCounters;
	readonly #fingerprint = new LogFingerprint();
	#fd: number | undefined;
	#offset = 0;
	/** The stats up to which everything was read. */
	#seen:
		| { readonly size: bigint; readonly mtimeNs: bigint; readonly ctimeNs: bigint; readonly racy: boolean }
		| undefined;

	constructor(candidate: LogCandidate, counters: LogCounters) {
		this.id = fileId(candidate.stats);
		this.path = candidate.path;
		this.#birthtimeNs = candidate.stats.birthtimeNs;
		this.#counters = counters;
	}

	/** Bytes from the start of the file that were read. */
	get offset(): number {
		return this.#offset;
	}

	get isOpen(): boolean {
		return this.#fd !== undefined;
	}

	/** Whether these stats, with the id of this file, are those of this file and not of one that reuses its inode. */
	isSame(stats: fs.BigIntStats): boolean {
		return this.isOpen || stats.birthtimeNs === this.#birthtimeNs;
	}

	/** Starts at the present end, within the present tick. Only what is needed to recognise the file is read. */
	startAtEnd(candidate: LogCandidate, keepOpen: boolean): void {
		this.#offset = Number(candidate.stats.size);
		let fd: number | undefined;
		try {
			fd = fs.openSync(candidate.path, OPEN_FLAGS);
			this.#offset = Number(fs.fstatSync(fd, { bigint: true }).size);
			const head = Buffer.alloc(Math.min(HEAD_BYTES, this.#offset));
			const tail = Buffer.alloc(Math.min(TAIL_BYTES, this.#offset));
			fs.readSync(fd, head, 0, head.length, 0);
			fs.readSync(fd, tail, 0, tail.length, this.#offset - tail.length);
			// NULs at the end are padding of a crash: what is written next may follow them or take their place.
			const padding = trailingNuls(tail);
			this.#offset -= padding;
			const text = tail.subarray(0, tail.length - padding);
			this.#fingerprint.set(head.subarray(0, this.#offset), text);
			// Inside a line: what comes first is the rest of it, not a line.
			this.partial.skipping = text.length > 0 && text.at(-1) !== 10;
		} catch {
			this.#counters.readErrors++; // Not readable (yet). The offset stands, and the next pass tries again.
		}
		if (keepOpen) this.#fd = fd;
		else if (fd !== undefined) fs.closeSync(fd);
	}

	/**
	 * Opens the file at its path if it is not open. False if it is gone, or is another file by now.
	 * Rejects with the error of the file system.
	 */
	async open(path: string): Promise<boolean> {
		if (this.#fd !== undefined) return true;
		const fd = await open(path, OPEN_FLAGS);
		const stats = await fstat(fd, { bigint: true });
		if (fileId(stats) !== this.id || !this.isSame(stats)) {
			await close(fd);
			return false;
		}
		this.#fd = fd;
		return true;
	}

	/** Whether something may have been written since the last catch-up. */
	hasChanged(stats: fs.BigIntStats): boolean {
		const seen = this.#seen;
		if (seen === undefined || seen.racy) return true;
		return stats.size !== seen.size || stats.mtimeNs !== seen.mtimeNs || stats.ctimeNs !== seen.ctimeNs;
	}

	/** Reads an open file that may have lost its name up to its end. */
	async drain(feeder: LogLineFeeder): Promise<void> {
		if (this.#fd === undefined) return;
		const stats = await this.#stats();
		this.deleted = stats.nlink === 0n;
		if (this.hasChanged(stats)) await this.catchUp(stats, feeder);
	}

	/**
	 * Reads what a notice was probably about, without asking the file system for anything else. False if that was not
	 * all, or something other than growth happened: then a catch-up is due.
	 */
	async readAhead(feeder: LogLineFeeder): Promise<boolean> {
		if (this.#fd === undefined) return false;
		const offset = this.#offset;
		const { read, atEnd, headMatches } = await this.#readOn(offset + AHEAD_BYTES, true);
		if (!headMatches || !this.#fingerprint.matchesTail(read)) return false;
		this.#accept(read, atEnd, feeder);
		return atEnd && this.#offset > offset;
	}

	/** Reads an open file from its offset to its end, in bounded steps. `found` must have been taken before. */
	async catchUp(found: fs.BigIntStats, feeder: LogLineFeeder): Promise<void> {
		this.#seen = undefined;
		// Shorter than what was read: truncated, unless the stats are older than the last read.
		const stats = Number(found.size) < this.#offset ? await this.#stats() : found;
		const size = Number(stats.size);
		if (size < this.#offset) this.#restart(feeder);
		const limit = size + CHASE_BYTES;
		for (let checkHead = true; ; checkHead = false) {
			const { read, atEnd, headMatches } = await this.#readOn(size, checkHead);
			if (!headMatches || !this.#fingerprint.matchesTail(read)) {
				// Truncated and written again past the offset: another content.
				this.#restart(feeder);
				continue;
			}
			const padding = this.#accept(read, atEnd, feeder);
			this.behind = !atEnd && this.#offset >= limit;
			// A short read before the known end is not the end either, but that can wait for the next look.
			if (this.behind || (atEnd && this.#offset + padding < size)) return;
			if (atEnd) break;
		}
		const racy = Math.abs(Date.now() - Number(stats.mtimeMs)) < RACY_MS;
		this.#seen = { size: stats.size, mtimeNs: stats.mtimeNs, ctimeNs: stats.ctimeNs, racy };
	}

	async close(): Promise<void> {
		const fd = this.#fd;
		this.#fd = undefined;
		if (fd === undefined) return;
		await close(fd).catch(() => {
			this.#counters.readErrors++; // The descriptor is released all the same.
		});
	}

	/**
	 * Reads the remembered tail once more and what follows it up to `size` or somewhat more, in one call: both are of the
	 * same moment. The head is compared meanwhile, so that it takes no time of its own.
	 */
	async #readOn(size: number, checkHead: boolean): Promise<{ read: Buffer; atEnd: boolean; headMatches: boolean }> {
		const again = this.#fingerprint.tailLength;
		const wanted = Math.min(CHUNK_BYTES, Math.max(0, size - this.#offset) + SLACK_BYTES);
		const buffer = Buffer.allocUnsafe(again + wanted);
		const [bytes, headMatches] = await Promise.all([
			this.#readAt(buffer, this.#offset - again),
			!checkHead || this.#headMatches(),
		]);
		return { read: buffer.subarray(0, bytes), atEnd: bytes < buffer.length, headMatches };
	}

	async #headMatches(): Promise<boolean> {
		const length = this.#fingerprint.headLengthToCheck(this.#offset);
		if (length === 0) return true;
		const buffer = Buffer.allocUnsafe(length);
		return this.#fingerprint.matchesHead(buffer.subarray(0, await this.#readAt(buffer, 0)));
	}

	async #stats(): Promise<fs.BigIntStats> {
		return fstat(this.#descriptor(), { bigint: true });
	}

	#descriptor(): number {
		if (this.#fd === undefined) throw new Error("log file is not open");
		return this.#fd;
	}

	async #readAt(buffer: Buffer, position: number): Promise<number> {
		return (await read(this.#descriptor(), buffer, 0, buffer.length, position)).bytesRead;
	}

	/** Moves on over the new bytes of a read. Returns how many NULs at the end were left for later. */
	#accept(bytes: Buffer, atEnd: boolean, feeder: LogLineFeeder): number {
		const again = this.#fingerprint.tailLength;
		const padding = atEnd ? trailingNuls(bytes.subarray(again)) : 0;
		const kept = bytes.subarray(0, bytes.length - padding);
		const fresh = kept.subarray(again);
		if (fresh.length === 0) return padding;
		this.#fingerprint.advance(kept, this.#offset);
		this.#offset += fresh.length;
		this.#counters.bytesRead += fresh.length;
		this.lastGrowth = hrNow();
		feeder.push(this.partial, fresh);
		return padding;
	}

	#restart(feeder: LogLineFeeder): void {
		feeder.flush(this.partial);
		this.partial.skipping = false;
		this.#fingerprint.clear();
		this.#offset = 0;
	}
}

const open = promisify(fs.open);
const close = promisify(fs.close);
const fstat = promisify(fs.fstat);
const read = promisify(fs.read);

function trailingNuls(bytes: Buffer): number {
	let end = bytes.length;
	while (end > 0 && bytes[end - 1] === 0) end--;
	return bytes.length - end;
}
