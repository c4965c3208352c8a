import type { Writable } from "node:stream";
import type { ChildEvent, ExtensionUiRequest, RpcResponse } from "../../events/agent-event.ts";
import { hrNow, type ManagedProcess, OperationError } from "../../process/index.ts";

/** A command of pi's RPC protocol, without its id. */
export interface RpcCommand {
	readonly type: string;
	readonly [parameter: string]: unknown;
}

/** The child did not carry out a command, and said why. */
export class RpcError extends Error {
	override readonly name = "RpcError";
}

/** How many of the cancelled dialogs are named. */
const MAX_DENIED_DIALOGS = 10;

/** Dialogs block the child until they are answered; everything else is only shown. */
const DIALOGS = new Set(["select", "confirm", "input", "editor"]);

/**
 * Speaks pi's command protocol on the stdin of a child. Answers are matched by id. Dialogs of the child's extensions are
 * cancelled at once: nobody is there to answer them.
 */
export class RpcClient {
	readonly #process: ManagedProcess<ChildEvent>;
	readonly #stdin: Writable;
	readonly #waiting = new Map<string, (response: RpcResponse) => void>();
	readonly #deniedDialogs: string[] = [];
	readonly #unsubscribe: () => void;
	#stdinError: string | undefined;

	constructor(process: ManagedProcess<ChildEvent>, stdin: Writable) {
		this.#process = process;
		this.#stdin = stdin;
		// A child that is gone leaves a broken pipe; its exit tells what there is to tell.
		stdin.on("error", (error) => {
			this.#stdinError = error.message;
		});
		const responses = process.bus.subscribe((response) => this.#settle(response), { types: ["response"] });
		const dialogs = process.bus.subscribe((request) => this.#denyDialog(request), { types: ["extension_ui_request"] });
		this.#unsubscribe = () => {
			responses();
			dialogs();
		};
	}

	/** Titles of the dialogs that were cancelled. */
	get deniedDialogs(): readonly string[] {
		return this.#deniedDialogs;
	}

	/** Why the last write failed, if it did. */
	get stdinError(): string | undefined {
		return this.#stdinError;
	}

	/**
	 * Sends a command and waits for its answer.
	 * @param timeoutMs milliseconds after which the process reports `response_timeout`; waiting goes on
	 * @throws RpcError when the child refuses it
	 * @throws OperationError when the child ends first
	 */
	async request(command: RpcCommand, timeoutMs?: number): Promise<RpcResponse> {
		const operation = this.#process.trackOperation(`rpc ${command.type}`, { timeoutMs });
		let answer: RpcResponse | undefined;
		this.#waiting.set(operation.id, (response) => {
			// The first answer counts: a second one may come in the same chunk.
			answer ??= response;
			operation.complete();
		});
		try {
			this.#write({ id: operation.id, ...command });
			await operation.promise;
		} finally {
			this.#waiting.delete(operation.id);
		}
		if (!answer)
			throw new OperationError(
				`rpc ${command.type}`,
				hrNow() - operation.startedAt,
				"the process ended without an answer",
			);
		if (!answer.success) throw new RpcError(answer.error ?? `${command.type} was refused without a reason`);
		return answer;
	}

	/** Says that no more commands come; an idle child exits then. */
	close(): void {
		this.#stdin.end();
	}

	dispose(): void {
		this.#unsubscribe();
		this.close();
	}

	#write(record: object): void {
		if (this.#stdin.writable) this.#stdin.write(`${JSON.stringify(record)}\n`);
	}

	#settle(response: RpcResponse): void {
		if (response.id !== undefined) this.#waiting.get(response.id)?.(response);
	}

	#denyDialog(request: ExtensionUiRequest): void {
		if (!DIALOGS.has(request.method)) return;
		const title = typeof request.title === "string" ? request.title : request.method;
		if (this.#deniedDialogs.length < MAX_DENIED_DIALOGS) this.#deniedDialogs.push(title);
		this.#write({ type: "extension_ui_response", id: request.id, cancelled: true });
	}
}
