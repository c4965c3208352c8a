import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { onTestFinished } from "vitest";
import { type ChangeSignal, createChangeSignal } from "../../support/change-signal.ts";
import { PI_CLI, type PiRecord } from "../../support/run-pi.ts";
import { type ParentOptions, parentArguments } from "./e2e-parent.ts";
import { PARENT_PROMPT, type Scene } from "./e2e-scene.ts";

interface Response {
	readonly type: "response";
	readonly id?: string;
	readonly success: boolean;
	readonly data?: Readonly<Record<string, unknown>>;
}

/** A real pi with the extension in RPC mode: one that can be aborted. It is ended with the test at the latest. */
export class RpcParent {
	readonly records: (PiRecord | Response)[] = [];
	readonly #process: ChildProcess;
	readonly #changes: ChangeSignal = createChangeSignal();
	readonly #closed: Promise<unknown>;
	#rest = "";
	#stderr = "";
	#lastId = 0;

	constructor(scene: Scene, options: ParentOptions = {}) {
		this.#process = spawn(process.execPath, [PI_CLI, "--mode", "rpc", ...parentArguments(options)], {
			cwd: scene.cwd,
			env: { ...scene.env, ...options.env },
			detached: process.platform !== "win32",
		});
		this.#closed = once(this.#process, "close").then(() => {
			this.#changes.rejectAll(new Error(`pi has ended: ${this.#stderr}`));
		});
		this.#process.stdout?.setEncoding("utf8").on("data", (text: string) => this.#read(text));
		this.#process.stderr?.setEncoding("utf8").on("data", (text: string) => {
			this.#stderr += text;
		});
		// It may be gone already when a command is written; its end is told by `close`.
		this.#process.stdin?.on("error", (error) => {
			this.#stderr += error.message;
		});
		onTestFinished(() => this.kill());
	}

	get pid(): number | undefined {
		return this.#process.pid;
	}

	/** Gives the prompt that the scripted parent answers to. */
	async prompt(): Promise<void> {
		await this.command({ type: "prompt", message: PARENT_PROMPT });
	}

	/** Sends a command and waits for its answer. */
	async command(command: { readonly type: string; readonly message?: string }): Promise<Response> {
		const id = `test-${++this.#lastId}`;
		this.#process.stdin?.write(`${JSON.stringify({ id, ...command })}\n`);
		return this.#changes.firstOf(() =>
			this.records.filter((record) => record.type === "response").find((response) => response.id === id),
		);
	}

	/** Resolves with the first record that fits, past ones included. */
	async record<T extends PiRecord["type"]>(type: T): Promise<Extract<PiRecord, { type: T }>> {
		return this.#changes.firstOf(() =>
			this.records.find((record): record is Extract<PiRecord, { type: T }> => record.type === type),
		);
	}

	/** Resolves when so many tool calls have ended. */
	async toolEnds(count: number): Promise<void> {
		const ended = () => this.records.filter(({ type }) => type === "tool_execution_end").length;
		await this.#changes.firstOf(() => (ended() >= count ? true : undefined));
	}

	piRecords(): PiRecord[] {
		return this.records.filter((record) => record.type !== "response");
	}

	/** Ends it as a person does who closes the session. */
	async close(): Promise<void> {
		this.#process.stdin?.end();
		await this.#closed;
	}

	async kill(): Promise<void> {
		this.#process.kill("SIGKILL");
		await this.#closed;
	}

	#read(text: string): void {
		const lines = (this.#rest + text).split("\n");
		this.#rest = lines.pop() ?? "";
		for (const line of lines) this.records.push(JSON.parse(line));
		this.#changes.notify();
	}
}
