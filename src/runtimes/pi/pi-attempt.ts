import type { ChildEvent } from "../../events/agent-event.ts";
import {
	hrNow,
	type LadderOptions,
	type ManagedProcess,
	type ManagedProcessFactory,
	type ProcessOutcome,
	SpawnCheckError,
	settledWithin,
	spawnChecked,
} from "../../process/index.ts";
import type { AttemptOutcome } from "../outcome.ts";
import { PI_EVENTS_HANDLER, PI_LABEL, PiEventsHandler, type PiStreamFacts } from "./events-handler.ts";
import type { PiProgram } from "./locate-pi.ts";
import { type PiChildOptions, piArguments } from "./pi-arguments.ts";
import { runMarker } from "./pi-environment.ts";
import { decidePiOutcome } from "./pi-outcome.ts";
import { RpcClient, RpcError } from "./rpc-client.ts";

/** Everything one attempt needs; nothing in it is decided here. */
export interface PiAttemptSpec {
	readonly runId: string;
	readonly task: string;
	readonly cwd: string;
	readonly program: PiProgram;
	readonly child: PiChildOptions;
	readonly env: NodeJS.ProcessEnv;
}

/** How one attempt went. */
export interface PiAttemptResult {
	readonly outcome: AttemptOutcome;
	readonly process: ProcessOutcome;
	/** As the child reported it; undefined if it never did. */
	readonly sessionFile: string | undefined;
	/** The model the child really used, `provider/id`. */
	readonly model: string | undefined;
}

/** One pi child working on a task. */
export interface PiAttempt {
	readonly process: ManagedProcess<ChildEvent>;
	/** Never rejects. */
	readonly finished: Promise<PiAttemptResult>;
	/** Ends the child and its tree. The first reason counts; after the child's last word it is housekeeping. */
	stop(reason: string): void;
}

/** How long the child may take to give up its work when asked, in milliseconds (measured: 20 to 160). */
const ABORT_WAIT_MS = 2000;
/** How long it may take to exit once its stdin is closed, in milliseconds (measured: 75 to 160). */
const EXIT_WAIT_MS = 3000;
/** How long it may take to say whether it is idle, in milliseconds (measured: below 10). */
const CONFIRM_WAIT_MS = 2000;
/** How long the tools of a child that died may take to end when asked, in milliseconds. */
const LEFTOVER_GRACE_MS = 2000;
/** After this many milliseconds without an answer to the task the process reports a `response_timeout`. */
const START_TIMEOUT_MS = 30_000;

/**
 * Starts a pi child in RPC mode and gives it the task by stdin.
 * @throws SpawnCheckError when it cannot be started, with what to do about it
 */
export function startPiAttempt(spec: PiAttemptSpec, factory: ManagedProcessFactory<ChildEvent>): PiAttempt {
	const requestedAt = hrNow();
	const args = [...spec.program.args, ...piArguments(spec.child)];
	const child = spawnChecked({ command: spec.program.command, args, cwd: spec.cwd, env: spec.env });
	const ladder: LadderOptions = {
		request: (gone) => attempt.requestEnd(gone),
		// The second TERM makes pi exit at once, however long a tool of its ignores the first.
		terms: 2,
		termGapMs: 2000,
		graceMs: 3000,
	};
	const managed = factory.create(child, {
		label: PI_LABEL,
		runId: spec.runId,
		worktreePath: spec.cwd,
		requestedAt,
		envMarker: runMarker(spec.runId),
		ladder,
	});
	if (!child.stdin || !child.stdout) throw new SpawnCheckError("The child has no pipes.");
	const attempt = new RunningPiAttempt(spec, managed, new RpcClient(managed, child.stdin));
	child.stdout.once("close", () => attempt.noteOutputClosed());
	return attempt;
}

class RunningPiAttempt implements PiAttempt {
	readonly process: ManagedProcess<ChildEvent>;
	readonly finished: Promise<PiAttemptResult>;
	readonly #spec: PiAttemptSpec;
	readonly #rpc: RpcClient;
	/** The child said its last word, or the task never became a run. */
	readonly #over = Promise.withResolvers<void>();
	#stop: { reason: string } | undefined;
	/** The child was asked to exit and given the time for it: asking once more would only cost time. */
	#exitOverdue = false;
	#promptError: string | undefined;
	#promptHandled = false;
	#sessionFile: string | undefined;
	#outputLost = false;
	/** What the stream had said when the work was over: what a child adds while it is sent away changes nothing. */
	#lastWord: PiStreamFacts | undefined;

	constructor(spec: PiAttemptSpec, process: ManagedProcess<ChildEvent>, rpc: RpcClient) {
		this.#spec = spec;
		this.process = process;
		this.#rpc = rpc;
		process.bus.subscribe(() => void this.#confirmEnd(), { types: ["agent_settled"] });
		this.finished = this.#run();
	}

	stop(reason: string): void {
		// After the child's last word an end is only tidied up: the outcome stands.
		if (!this.#lastWord && !this.#facts().settled) this.#stop ??= { reason };
		void this.process.stop(reason);
	}

	/** The graceful step of the ladder: give up the work, then the input ends, which is pi's sign to exit. */
	async requestEnd(gone: AbortSignal): Promise<void> {
		// Nothing to give up yet: the task lies in the child's input, and an abort behind it would come too late.
		if (this.#exitOverdue || !this.#facts().started) return;
		const left = new Promise<void>((resolve) => gone.addEventListener("abort", () => resolve(), { once: true }));
		await settledWithin(Promise.race([this.#ask({ type: "abort" }), left]), ABORT_WAIT_MS);
		this.#rpc.close();
		await settledWithin(left, EXIT_WAIT_MS);
	}

	/** A child that cannot tell us anything any more is of no use; one that exits closes its output too. */
	noteOutputClosed(): void {
		if (this.#facts().settled) return;
		void settledWithin(this.process.settled, EXIT_WAIT_MS).then((exited) => {
			if (exited) return;
			this.#outputLost = true;
			this.#over.resolve();
		});
	}

	/**
	 * An extension of the child may have started more work when it heard that the work was over: the child itself is asked
	 * whether it is idle.
	 */
	async #confirmEnd(): Promise<void> {
		let state: unknown;
		await settledWithin(
			this.#ask({ type: "get_state" }).then((answer) => {
				state = answer;
			}),
			CONFIRM_WAIT_MS,
		);
		const busy = isObject(state) && (state.isStreaming === true || Number(state.pendingMessageCount) > 0);
		// When it is busy, it will settle once more.
		if (busy || !this.#facts().settled) return;
		this.#lastWord = this.#facts();
		this.#over.resolve();
	}

	async #run(): Promise<PiAttemptResult> {
		void this.#askSession();
		void this.#prompt();
		await Promise.race([this.#over.promise, this.process.settled]);
		let outcome = await this.#end();
		const stream = this.#lastWord ?? this.#facts();
		// A child that died in the middle of its work left its tools behind, and nobody else knows of them.
		if (!stream.settled && outcome.leftovers.length > 0)
			outcome = { ...outcome, leftovers: await this.process.endLeftovers(LEFTOVER_GRACE_MS) };
		this.#rpc.dispose();
		return {
			outcome: decidePiOutcome({
				stream,
				process: outcome,
				stop: this.#stop,
				promptError: this.#promptError,
				promptHandled: this.#promptHandled,
				deniedDialogs: this.#rpc.deniedDialogs,
				overlongLines: this.process.bus.getMetrics().overlong,
				outputLost: this.#outputLost,
			}),
			process: outcome,
			sessionFile: this.#sessionFile,
			model: modelOf(stream),
		};
	}

	/** Closes the input and waits for the exit; a child that stays, for a timer of some extension, is ended. */
	async #end(): Promise<ProcessOutcome> {
		if (!this.#stop) {
			this.#rpc.close();
			await settledWithin(this.process.settled, EXIT_WAIT_MS);
			this.#exitOverdue = true;
			void this.process.stop("done, but did not exit");
		}
		return this.process.settled;
	}

	async #prompt(): Promise<void> {
		try {
			// The prefix keeps a task that starts with a slash from being taken for a command.
			const response = await this.#rpc.request(
				{ type: "prompt", message: `Task: ${this.#spec.task}` },
				START_TIMEOUT_MS,
			);
			this.#promptHandled = isObject(response.data) && response.data.disposition === "handled";
		} catch (error) {
			// The end of the process is told by its outcome; only a refusal is news.
			if (!(error instanceof RpcError)) return;
			this.#promptError = error.message;
		}
		if (this.#promptHandled || this.#promptError !== undefined) this.#over.resolve();
	}

	async #askSession(): Promise<void> {
		const state = await this.#ask({ type: "get_state" });
		if (isObject(state) && typeof state.sessionFile === "string") this.#sessionFile = state.sessionFile;
	}

	/** The answer's data; undefined when there was none, as the process's outcome will explain. */
	async #ask(command: { type: string }): Promise<unknown> {
		try {
			return (await this.#rpc.request(command)).data;
		} catch {
			// Refused, or the child ended first: its outcome tells, and nobody waits for this answer alone.
			return undefined;
		}
	}

	#facts(): PiStreamFacts {
		const handler = this.process.bus.getHandler(PI_EVENTS_HANDLER);
		if (!(handler instanceof PiEventsHandler)) throw new TypeError("The bus of a pi child lacks its events handler.");
		return handler.getFacts();
	}
}

function modelOf({ lastAssistant }: PiStreamFacts): string | undefined {
	return lastAssistant?.model ? `${lastAssistant.provider ?? "?"}/${lastAssistant.model}` : undefined;
}

function isObject(value: unknown): value is Record<string, unknown> {
	return typeof value === "object" && value !== null;
}
