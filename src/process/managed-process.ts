import type { ChildProcess } from "node:child_process";
import { type HrTimestamp, hrNow } from "./hr-timestamp.ts";
import type { LifecycleEvent, LifecycleEventType } from "./lifecycle-event.ts";
import { Listeners } from "./listeners.ts";
import type { LogFileTailer } from "./log-file-tailer.ts";
import { type Operation, OperationTracker } from "./operations.ts";
import type { LineListener, ProcessOutputBus } from "./output-bus.ts";
import type { TypedEvent } from "./output-handler.ts";
import { OutputSources } from "./output-source.ts";
import type { ProcessDiagnostics, ProcessDurations, ProcessTimestamps } from "./process-diagnostics.ts";
import { findFamily, stillAlive } from "./process-family.ts";
import type { ProcessOutcome } from "./process-outcome.ts";
import { signalGroup, signalProcess } from "./process-signals.ts";
import type { ProcessMarker, ProcessTable } from "./process-table.ts";
import {
	DEFAULT_GRACE_MS,
	endFamily,
	type LadderOptions,
	type LadderResult,
	type LadderTarget,
	runStopLadder,
} from "./stop-ladder.ts";
import { type DrainOptions, StreamDrain } from "./stream-drain.ts";
import { lastCharacters, TextTail } from "./text-tail.ts";
import { polledWithin, settledWithin } from "./wait.ts";
import { killTreeOnWindows, type RunTaskkill } from "./windows-kill.ts";

/** How much of stderr is kept, in bytes. */
const STDERR_TAIL_BYTES = 64 * 1024;
/** How much of it is quoted in an error and in an event, in characters. */
const ERROR_CHARACTERS = 1000;
const EXCERPT_CHARACTERS = 500;

/** How long a process may take from closing its files to being gone, in milliseconds. */
const ENDING_MS = 200;

export interface ProcessEventListeners {
	exit: (code: number | null, signal: NodeJS.Signals | null) => void;
	error: (error: Error) => void;
	line: LineListener;
	lifecycle: (event: LifecycleEvent) => void;
}

/** What a managed process is made of; `ManagedProcessFactory` puts it together. */
export interface ManagedProcessParts<E extends TypedEvent> {
	readonly bus: ProcessOutputBus<E>;
	readonly tailers: ReadonlyMap<string, LogFileTailer>;
	readonly table: ProcessTable;
	readonly platform: NodeJS.Platform;
	readonly runTaskkill: RunTaskkill;
	readonly requestedAt: HrTimestamp | undefined;
	readonly marker: ProcessMarker | undefined;
	readonly ladder: LadderOptions | undefined;
	readonly drain: DrainOptions | undefined;
}

/** A child process whose output goes through a bus and whose end is told once, after everything it wrote was read. */
export class ManagedProcess<E extends TypedEvent = TypedEvent> {
	readonly bus: ProcessOutputBus<E>;
	/** How it ended. Resolves once and never rejects; waits for output still to be read and for a ladder under way. */
	readonly settled: Promise<ProcessOutcome>;
	readonly #child: ChildProcess;
	readonly #parts: ManagedProcessParts<E>;
	readonly #created = hrNow();
	readonly #drain: StreamDrain;
	readonly #stderr = new TextTail(STDERR_TAIL_BYTES);
	readonly #exit = Promise.withResolvers<void>();
	readonly #operations: OperationTracker;
	readonly #onExit = this.#listeners("exit");
	readonly #onError = this.#listeners("error");
	readonly #onLifecycle = this.#listeners("lifecycle");
	/** Whether the child leads a process group of its own; asked at once, while it surely exists. */
	readonly #ownGroup: boolean;
	#running: HrTimestamp | undefined;
	#killRequested: HrTimestamp | undefined;
	#killed: HrTimestamp | undefined;
	#exited: HrTimestamp | undefined;
	#code: number | null = null;
	#signal: NodeJS.Signals | null = null;
	#spawnError: Error | undefined;
	#stopReason: string | undefined;
	#ladder: Promise<LadderResult> | undefined;
	#escalation: NodeJS.Timeout | undefined;

	/** To be called in the same tick as the spawn, so that nothing the child says is missed. */
	constructor(child: ChildProcess, parts: ManagedProcessParts<E>) {
		this.#child = child;
		this.#parts = parts;
		this.bus = parts.bus;
		this.#drain = new StreamDrain(parts.drain);
		this.#operations = new OperationTracker((operation) => this.#emit("response_timeout", { operation }));
		this.#ownGroup = parts.platform !== "win32" && child.pid !== undefined && signalGroup(child.pid, 0) !== "gone";
		if (child.stdout)
			this.#drain.read(
				child.stdout,
				(chunk) => this.bus.feed(chunk, OutputSources.stdout),
				() => this.bus.end(OutputSources.stdout),
			);
		if (child.stderr)
			this.#drain.read(
				child.stderr,
				(chunk) => {
					this.#stderr.push(chunk);
					this.bus.feed(chunk, OutputSources.stderr);
				},
				() => this.bus.end(OutputSources.stderr),
			);
		child.once("spawn", () => {
			this.#running = hrNow();
			this.#emit("spawned");
		});
		child.on("error", (error) => this.#handleError(error));
		child.once("exit", (code, signal) => this.#handleExit(code, signal));
		this.settled = this.#settle();
	}

	get pid(): number | undefined {
		return this.#child.pid;
	}

	/** As the system gave it; null while it runs, and after a signal. */
	get exitCode(): number | null {
		return this.#code;
	}

	/** Whether a signal was sent to it from here. */
	get killed(): boolean {
		return this.#killRequested !== undefined;
	}

	get timestamps(): ProcessTimestamps {
		return {
			requested: this.#parts.requestedAt ?? this.#created,
			created: this.#created,
			running: this.#running,
			killRequested: this.#killRequested,
			killed: this.#killed,
			exited: this.#exited,
		};
	}

	get durations(): ProcessDurations {
		const { requested, created, running, killRequested, exited } = this.timestamps;
		const now = exited ?? hrNow();
		return {
			total: now - requested,
			spawnLatency: created - requested,
			startupLatency: running === undefined ? undefined : running - created,
			processLifetime: running === undefined ? undefined : now - running,
			killLatency: killRequested === undefined || exited === undefined ? undefined : exited - killRequested,
		};
	}

	/** Everything known about the process at this moment. Never throws. */
	diagnostics(): ProcessDiagnostics {
		return {
			pid: this.pid,
			exitCode: this.exitCode,
			killed: this.killed,
			timestamps: this.timestamps,
			durations: this.durations,
			handlerNames: this.bus.getHandlerNames(),
			busMetrics: this.bus.getMetrics(),
			tailerMetrics: Object.fromEntries([...this.#parts.tailers].map(([name, tailer]) => [name, tailer.getMetrics()])),
		};
	}

	/** @returns the unsubscribe function. Errors of a listener reach nobody else. */
	on<K extends keyof ProcessEventListeners>(event: K, listener: ProcessEventListeners[K]): () => void;
	on(event: keyof ProcessEventListeners, listener: (...args: never[]) => void): () => void {
		// The overload ties the listener to the event; the switch below repeats that pairing.
		const any = listener as (...args: unknown[]) => void;
		switch (event) {
			case "exit":
				return this.#onExit.add(any);
			case "error":
				return this.#onError.add(any);
			case "line":
				return this.bus.subscribeLines(any);
			case "lifecycle":
				return this.#onLifecycle.add(any);
		}
	}

	/**
	 * Opens an operation that the process is expected to finish.
	 * @param options.timeoutMs milliseconds after which a `response_timeout` event is sent; the operation stays open
	 */
	trackOperation(type: string, options: { readonly timeoutMs?: number | undefined } = {}): Operation {
		return this.#operations.track(type, options.timeoutMs);
	}

	/**
	 * Sends a signal to the child, to its whole group where it has one. TERM becomes KILL after 5 s. Signal 0 is a probe.
	 * On Windows the tree is ended by taskkill.
	 * @returns whether the child was there
	 */
	kill(signal: NodeJS.Signals | 0 = "SIGTERM"): boolean {
		const { pid } = this.#child;
		if (pid === undefined || this.#exited !== undefined) return false;
		if (signal === 0) return signalProcess(pid, 0) === "sent";
		this.#killRequested ??= hrNow();
		if (this.#parts.platform === "win32") {
			void killTreeOnWindows(this.#target(pid), this.#parts.runTaskkill);
			return true;
		}
		if (signal === "SIGKILL") this.#killed ??= hrNow();
		const sent = (this.#ownGroup ? signalGroup(pid, signal) : signalProcess(pid, signal)) === "sent";
		if (signal === "SIGTERM" && !this.#ladder)
			this.#escalation ??= setTimeout(() => {
				this.#noteHardKill();
				this.kill("SIGKILL");
			}, DEFAULT_GRACE_MS);
		return sent;
	}

	/**
	 * Ends the child and its family by the ladder. The first reason is kept; a second call joins the first.
	 * After the exit nothing is done and no reason recorded.
	 * @returns the outcome, when everything is over
	 */
	stop(reason: string): Promise<ProcessOutcome> {
		const { pid } = this.#child;
		if (pid === undefined || this.#exited !== undefined || this.#ladder) return this.settled;
		this.#stopReason = reason;
		this.#killRequested ??= hrNow();
		const target = this.#target(pid);
		const ladder =
			this.#parts.platform === "win32"
				? killTreeOnWindows(target, this.#parts.runTaskkill, this.#parts.ladder)
				: runStopLadder(target, this.#parts.ladder ?? {});
		// A fault of the ladder's own must not leave the child running, nor make `settled` reject.
		this.#ladder = ladder.catch(async (error) => {
			this.bus.noteListenerError("stop ladder", error);
			this.kill("SIGKILL");
			const died = await settledWithin(this.#exit.promise, DEFAULT_GRACE_MS);
			return { forced: true, leftovers: died ? [] : [pid] };
		});
		// A child that survives even KILL, as one that waits for a dead disk, must not keep `settled` open for ever.
		void this.#ladder.then(() => {
			if (this.#exited === undefined) this.#child.unref();
			this.#exit.resolve();
		});
		return this.settled;
	}

	/**
	 * Ends what is left of the family of a child that is gone: nobody is there any more to end it.
	 * @param graceMs milliseconds from TERM to KILL
	 * @returns the pids that survived; empty also while the child runs, and on Windows
	 */
	async endLeftovers(graceMs = DEFAULT_GRACE_MS): Promise<readonly number[]> {
		const { pid } = this.#child;
		if (pid === undefined || this.#exited === undefined || this.#parts.platform === "win32") return [];
		return endFamily(this.#target(pid), graceMs);
	}

	#listeners<K extends Exclude<keyof ProcessEventListeners, "line">>(event: K) {
		return new Listeners<Parameters<ProcessEventListeners[K]>>((error) =>
			this.bus.noteListenerError(`${event} listener`, error),
		);
	}

	#target(pid: number): LadderTarget {
		return {
			pid,
			ownGroup: this.#ownGroup,
			marker: this.#parts.marker,
			table: this.#parts.table,
			gone: () => this.#exited !== undefined,
			exited: this.#exit.promise,
			onHardKill: () => this.#noteHardKill(),
		};
	}

	#noteHardKill(): void {
		this.#killed ??= hrNow();
		this.#emit("hard_kill");
	}

	#handleError(error: Error): void {
		// An error after the start is a signal that could not be sent: nothing has ended.
		if (this.#child.pid === undefined && !this.#spawnError) {
			this.#spawnError = error;
			this.#emit("spawn_error", { error: error.message });
			this.#exit.resolve();
		}
		this.#onError.call(error);
	}

	#handleExit(code: number | null, signal: NodeJS.Signals | null): void {
		this.#exited = hrNow();
		this.#code = code;
		this.#signal = signal;
		clearTimeout(this.#escalation);
		this.#emit("exit", { code, signal, ...this.#failureNote() });
		this.#onExit.call(code, signal);
		if (this.#drain.isOpen) this.#emit("final_drain");
		this.#exit.resolve();
	}

	async #settle(): Promise<ProcessOutcome> {
		await this.#exit.promise;
		// A ladder ends those who hold the pipes open: only after it is an open pipe somebody else's.
		const ladder = await this.#ladder;
		this.#drain.startGrace();
		const [streams] = await Promise.all([this.#drain.closed, this.#stopTailers()]);
		const outcome: ProcessOutcome = {
			code: this.exitCode,
			signal: this.#signal,
			spawnError: this.#spawnError?.message,
			stopReason: this.#stopReason,
			forcedExit: (ladder?.forced ?? false) || (this.killed && !this.#ladder) || streams === "held",
			streams,
			stderrTail: this.#stderr.toString(),
			leftovers: ladder?.leftovers ?? (await this.#findLeftovers()),
		};
		const failure = this.#failureNote();
		this.#operations.endAll(failure.error);
		this.#emit("close", { code: outcome.code, signal: outcome.signal, ...failure });
		this.#onExit.clear();
		this.#onError.clear();
		this.#onLifecycle.clear();
		this.bus.dispose();
		return outcome;
	}

	async #stopTailers(): Promise<void> {
		await Promise.all([...this.#parts.tailers.values()].map((tailer) => tailer.stop()));
	}

	/** After a natural end: who is left of the child's group, and who carries its marker. */
	async #findLeftovers(): Promise<readonly number[]> {
		const { pid } = this.#child;
		const { marker, table } = this.#parts;
		// Most children leave nobody: asking the group costs one system call, reading the process table thousands.
		const groupIsEmpty = !this.#ownGroup || pid === undefined || signalGroup(pid, 0) === "gone";
		if (pid === undefined || (groupIsEmpty && !marker)) return [];
		let family = await findFamily({ pid, ownGroup: this.#ownGroup, marker, gone: () => true, table });
		// Whoever is just ending has closed our pipes already and is still in the table: a second look tells.
		const allEnded = async () => {
			family = await stillAlive(family, table);
			return family.length === 0;
		};
		if (family.length > 0) await polledWithin(allEnded, ENDING_MS);
		return family.map((entry) => entry.pid);
	}

	/** What an unexpected end is reported with; empty after an end that was meant. */
	#failureNote(): { error?: string; stderrExcerpt?: string } {
		const code = this.exitCode;
		const meant = this.killed || (code === 0 && !this.#spawnError);
		if (meant) return {};
		const stderr = this.#stderr.toString().trimEnd();
		const how = this.#spawnError
			? `could not be started: ${this.#spawnError.message}`
			: this.#signal
				? `was ended by signal ${this.#signal}`
				: `exited with code ${code}`;
		return {
			error: `process ${how}${stderr ? `: ${lastCharacters(stderr, ERROR_CHARACTERS)}` : ""}`,
			stderrExcerpt: lastCharacters(stderr, EXCERPT_CHARACTERS),
		};
	}

	#emit(type: LifecycleEventType, more: Partial<LifecycleEvent> = {}): void {
		this.#onLifecycle.call({ type, ts: new Date().toISOString(), pid: this.pid, ...more });
	}
}
