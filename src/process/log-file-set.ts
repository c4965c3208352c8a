import { hrNow } from "./hr-timestamp.ts";
import { LogFollowedFile } from "./log-followed-file.ts";
import type { LogLineFeeder } from "./log-line-feeder.ts";
import { fileId, type LogCandidate } from "./log-look.ts";
import { isMissing, type LogCounters } from "./log-tailer-metrics.ts";

/** Descriptors kept open at most. The file that has been quiet for longest is closed first. */
const MAX_OPEN_FILES = 32;
/** Files without a name that are remembered at most, in case they come back. */
const MAX_NAMELESS_FILES = 256;

/**
 * The files of one log source, each known by its inode. A file that was renamed is still the same file, with its
 * offset; a file that took a known name is another file, and the one before it is read to its end first.
 */
export class LogFileSet {
	readonly #feeder: LogLineFeeder;
	readonly #counters: LogCounters;
	readonly #leftBehindMs: number;
	/** Every file seen, in the order in which they were first seen. */
	readonly #known = new Map<string, LogFollowedFile>();
	#current: LogFollowedFile | undefined;
	#currentPath: string | undefined;

	/**
	 * @param leftBehindMs milliseconds without growth after which a file that is not the newest gives up its unfinished
	 * line, and one that was deleted or replaced its descriptor
	 */
	constructor(feeder: LogLineFeeder, counters: LogCounters, leftBehindMs: number) {
		this.#feeder = feeder;
		this.#counters = counters;
		this.#leftBehindMs = leftBehindMs;
	}

	get currentPath(): string | undefined {
		return this.#currentPath;
	}

	/** Bytes. */
	get currentOffset(): number {
		return this.#current?.offset ?? 0;
	}

	/** Whether a file has more than the last pass read. */
	get behind(): boolean {
		return [...this.#known.values()].some((file) => file.behind && file.isOpen);
	}

	/** Takes note of the files that are there at the start, oldest first: they are followed from their ends. */
	startAtEnds(candidates: readonly LogCandidate[]): void {
		const newest = candidates.slice(-MAX_OPEN_FILES);
		for (const candidate of candidates) {
			const file = new LogFollowedFile(candidate, this.#counters);
			if (this.#known.has(file.id)) continue;
			this.#known.set(file.id, file);
			file.startAtEnd(candidate, newest.includes(candidate));
		}
		this.#noteCurrent(candidates);
	}

	/** Reads the newest file on, if nothing but growth happened to it. False if there is more to do: look. */
	async readAhead(): Promise<boolean> {
		let done = false;
		await this.#attempt(async () => {
			done = (await this.#current?.readAhead(this.#feeder)) ?? false;
		});
		return done;
	}

	/**
	 * Reads every file to its end: those that lost their name first, then what is there now, oldest first.
	 * @param thorough whether to read also those that were replaced before, for writers that still have them open
	 */
	async readAll(candidates: readonly LogCandidate[], thorough: boolean): Promise<void> {
		const present = byId(candidates, this.#known);
		const owners = new Map(candidates.map((candidate) => [candidate.path, fileId(candidate.stats)]));
		for (const file of [...this.#known.values()]) {
			const candidate = present.get(file.id);
			if (candidate !== undefined && !file.isSame(candidate.stats)) {
				await this.#forget(file);
				continue;
			}
			if (candidate === undefined && file.path === undefined && !thorough) continue;
			const owner = file.path === undefined ? undefined : owners.get(file.path);
			const replaced = owner !== undefined && owner !== file.id;
			if (replaced || candidate === undefined) await this.#attempt(() => file.drain(this.#feeder));
			if (replaced) {
				this.#feeder.flush(file.partial);
				file.path = undefined;
			}
			if (candidate !== undefined) file.path = candidate.path;
		}
		for (const candidate of present.values()) await this.#attempt(() => this.#readCandidate(candidate));
		this.#noteCurrent(candidates);
		await this.#leaveBehind(present);
	}

	/** Delivers unfinished lines and closes every descriptor. */
	async finish(): Promise<void> {
		for (const file of this.#known.values()) {
			await this.#attempt(async () => this.#feeder.flush(file.partial));
			await file.close();
		}
	}

	async #readCandidate(candidate: LogCandidate): Promise<void> {
		const id = fileId(candidate.stats);
		const file = this.#known.get(id) ?? new LogFollowedFile(candidate, this.#counters);
		if (!file.hasChanged(candidate.stats)) return;
		// Gone or replaced since the look. The writer of that change is noticed by the next look.
		if (!(await file.open(candidate.path))) return;
		this.#known.set(id, file);
		await file.catchUp(candidate.stats, this.#feeder);
		await this.#limitOpenFiles(file);
	}

	#noteCurrent(candidates: readonly LogCandidate[]): void {
		const newest = candidates.at(-1);
		const file = newest && this.#known.get(fileId(newest.stats));
		if (file === undefined) return;
		this.#current = file;
		this.#currentPath = newest?.path;
	}

	/** Lets go of files that ended: nothing but quiet tells that no writer has them open any more. */
	async #leaveBehind(present: ReadonlyMap<string, LogCandidate>): Promise<void> {
		let nameless = 0;
		for (const file of [...this.#known.values()].reverse()) {
			const named = present.has(file.id);
			if (!named && !file.isOpen && ++nameless > MAX_NAMELESS_FILES) this.#known.delete(file.id);
			if (hrNow() - file.lastGrowth < this.#leftBehindMs) continue;
			// A file that was renamed and has no successor yet is where its writer still writes.
			const ended = !named && (file.deleted || file.path === undefined);
			if (ended || (named && file !== this.#current)) this.#feeder.flush(file.partial);
			if (ended) await file.close();
		}
	}

	async #limitOpenFiles(inUse: LogFollowedFile): Promise<void> {
		const open = [...this.#known.values()].filter((file) => file.isOpen);
		if (open.length <= MAX_OPEN_FILES) return;
		const quietest = open
			.filter((file) => file !== inUse && file !== this.#current)
			.reduce((a, b) => (b.lastGrowth < a.lastGrowth ? b : a));
		await this.#attempt(() => quietest.drain(this.#feeder));
		await quietest.close();
	}

	async #forget(file: LogFollowedFile): Promise<void> {
		this.#feeder.flush(file.partial);
		this.#known.delete(file.id);
		await file.close();
	}

	/** An error with one file must not keep the others from being read. */
	async #attempt(action: () => Promise<void>): Promise<void> {
		try {
			await action();
		} catch (error) {
			if (!isMissing(error)) this.#counters.readErrors++; // The next pass tries again.
		}
	}
}

/** One candidate per file. Of several links to one file, the path that it is known by is taken. */
function byId(
	candidates: readonly LogCandidate[],
	known: ReadonlyMap<string, LogFollowedFile>,
): Map<string, LogCandidate> {
	const present = new Map<string, LogCandidate>();
	for (const candidate of candidates) {
		const id = fileId(candidate.stats);
		if (!present.has(id) || known.get(id)?.path === candidate.path) present.set(id, candidate);
	}
	return present;
}
