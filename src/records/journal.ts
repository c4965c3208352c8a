import { appendFileSync, constants, openSync, statSync } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import type { ObservedEvent } from "../events/agent-event.ts";
import { type Redact, redactJson } from "./redaction.ts";

/** One line of a journal: a typed object; the time is added when it is appended. */
export interface JournalEntry {
	readonly type: string;
	readonly [field: string]: unknown;
}

/** How much may wait to be written before entries are given up, in bytes: a dead disk must not eat the memory. */
const MAX_PENDING_BYTES = 64 * 1024 * 1024;

/** How long the last word waits for lines under way, in milliseconds without any of them arriving. */
const LAST_WAIT_MS = 100;
/** Never waits for a reader: the child may have put a pipe in the place of the file. */
const LAST_FLAGS = constants.O_WRONLY | constants.O_APPEND | constants.O_CREAT | (constants.O_NONBLOCK ?? 0);

/**
 * An append-only file of JSON lines with one writer. Appending never waits and never throws: a disk that fails costs the
 * rest of the journal, never the run.
 */
export class Journal {
	readonly #path: string;
	readonly #redact: Redact;
	#file: Promise<FileHandle> | undefined;
	#pending: string[] = [];
	#pendingBytes = 0;
	/** The batch that is being written, and the bytes before it. */
	#unwritten = "";
	#writtenBytes = 0;
	#writing: Promise<void> | undefined;
	#failure: string | undefined;
	#closed = false;

	constructor(path: string, redact: Redact) {
		this.#path = path;
		this.#redact = redact;
	}

	/** Why the journal is incomplete; undefined while it is whole. */
	get failure(): string | undefined {
		return this.#failure;
	}

	append(entry: JournalEntry): void {
		this.#appendJson(serialize(entry));
	}

	/** Appends an event of a child; one that still knows its line is stored as it came. */
	appendEvent(event: ObservedEvent): void {
		if (!("rawJson" in event)) this.#appendJson(serialize({ ...event }));
		else if (typeof event.rawJson === "string") this.#appendJson(event.rawJson);
		else this.#appendJson(serialize({ type: event.type, unreadable: "not a record" }));
	}

	/** @param json an object with at least one field; the time goes in front of it */
	#appendJson(json: string): void {
		if (this.#closed || this.#failure !== undefined) return;
		const clean = redactJson(json, this.#redact);
		const rest = clean.slice(clean.indexOf("{") + 1);
		const line = `{"ts":"${new Date().toISOString()}",${rest}\n`;
		this.#pendingBytes += line.length;
		if (this.#pendingBytes > MAX_PENDING_BYTES) {
			this.#fail(new Error("the disk is too slow for the journal"));
			return;
		}
		this.#pending.push(line);
		this.#writing ??= this.#write();
	}

	/** Writes what is left and closes the file. Idempotent. */
	async close(): Promise<void> {
		this.#closed = true;
		await this.#writing;
		const file = await this.#file?.catch(() => undefined);
		this.#file = undefined;
		if (!file) return;
		try {
			if ((await file.stat()).nlink === 0) this.#fail(new Error("the journal was deleted while it was written"));
			await file.close();
		} catch (error) {
			this.#fail(error);
		}
	}

	/** Writes what is left in this tick, for a program that must end now. */
	closeNow(): void {
		this.#closed = true;
		try {
			const left = Buffer.from(this.#unwritten + this.#pending.join(""));
			const arrived = this.#arrivedOf(Buffer.byteLength(this.#unwritten));
			appendFileSync(openSync(this.#path, LAST_FLAGS, 0o600), left.subarray(arrived));
			this.#pending = [];
		} catch (error) {
			this.#fail(error);
		}
	}

	/** How much of the batch under way has got into the file: another thread writes it, and cannot be held. */
	#arrivedOf(bytes: number): number {
		const sleeper = new Int32Array(new SharedArrayBuffer(4));
		let arrived = 0;
		for (let idle = 0; arrived < bytes && idle < LAST_WAIT_MS; idle++) {
			const now = (statSync(this.#path, { throwIfNoEntry: false })?.size ?? 0) - this.#writtenBytes;
			if (now > arrived) idle = 0;
			arrived = Math.max(arrived, now);
			Atomics.wait(sleeper, 0, 0, 1);
		}
		return arrived;
	}

	/** One batch after the other, so that lines never mix and a slow disk meets fewer, larger writes. */
	async #write(): Promise<void> {
		try {
			this.#file ??= open(this.#path, "a", 0o600);
			const file = await this.#file;
			while (this.#pending.length > 0) {
				this.#unwritten = this.#pending.join("");
				this.#pending = [];
				this.#pendingBytes = 0;
				await file.appendFile(this.#unwritten);
				this.#writtenBytes += Buffer.byteLength(this.#unwritten);
				this.#unwritten = "";
			}
		} catch (error) {
			this.#fail(error);
		}
		this.#writing = undefined;
	}

	#fail(error: unknown): void {
		this.#failure ??= error instanceof Error ? error.message : String(error);
		this.#pending = [];
	}
}

/** An entry that is no JSON costs its fields, not the journal. */
function serialize(entry: JournalEntry): string {
	try {
		return JSON.stringify(entry);
	} catch (error) {
		return JSON.stringify({ type: entry.type, unreadable: String(error) });
	}
}
