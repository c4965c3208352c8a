import { spawn } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { ChildEvent } from "../../src/events/agent-event.ts";
import { AgentRecord, subscribeRecordObserver } from "../../src/observers/index.ts";
import { ManagedProcessFactory, OutputHandlerRegistry, type ProcessOutcome } from "../../src/process/index.ts";
import {
	PI_EVENTS_HANDLER,
	PI_LABEL,
	PiEventsHandler,
	type PiStreamFacts,
	piEventsHandlerFactory,
} from "../../src/runtimes/pi/events-handler.ts";

/** What an independent script found in a recording. */
export interface ExpectedRun {
	readonly sessionId: string | null;
	readonly terminalEvent: boolean;
	readonly aborted: boolean;
	readonly lastStopReason: string | null;
	/** Whether the last message had one. */
	readonly errorMessage: boolean;
	readonly toolExecutions: number;
	readonly toolErrors: number;
	readonly turns: number;
	readonly retries: number;
	readonly compactions: number;
	readonly usage: {
		readonly input: number;
		readonly output: number;
		readonly cacheRead: number;
		readonly cacheWrite: number;
	};
	readonly cost: number;
	/** Its length in UTF-16 units and its first 60. */
	readonly answer: { readonly length: number; readonly head: string } | null;
	readonly exitCode: number | null;
	readonly signal: string | null;
	readonly unparsableLines: number;
}

const FOLDER = fileURLToPath(new URL("../fixtures/pi", import.meta.url));
const PRINTER = fileURLToPath(new URL("print-recording.mjs", import.meta.url));

export const recordingNames: readonly string[] = readdirSync(FOLDER).sort();

export function expectedOf(recording: string): ExpectedRun {
	return JSON.parse(readFileSync(join(FOLDER, recording, "expected.json"), "utf8")) as ExpectedRun;
}

export function stdoutOf(recording: string): Buffer {
	return readFileSync(join(FOLDER, recording, "stdout.jsonl"));
}

export function stderrOf(recording: string): string {
	return readFileSync(join(FOLDER, recording, "stderr.txt"), "utf8");
}

export interface Replay {
	readonly facts: PiStreamFacts;
	readonly record: AgentRecord;
	readonly outcome: ProcessOutcome;
	/** What the child answered to `get_state`, if it was asked. */
	readonly askedSessionId: string | undefined;
	/** In how many pieces stdout was read. */
	readonly chunks: number;
}

/** Lets a child print a recording, and watches it with what watches a real pi. */
export async function replay(recording: string, seed?: number): Promise<Replay> {
	const registry = new OutputHandlerRegistry<ChildEvent>();
	registry.registerFactory(piEventsHandlerFactory);
	const args = [PRINTER, join(FOLDER, recording), ...(seed === undefined ? [] : [String(seed)])];
	const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "pipe"] });
	const managed = new ManagedProcessFactory(registry).create(child, { label: PI_LABEL });
	const record = new AgentRecord("replayed");
	let askedSessionId: string | undefined;
	let chunks = 0;
	child.stdout?.on("data", () => chunks++);
	subscribeRecordObserver(managed.bus, record);
	managed.bus.subscribe(
		({ command, data }) => {
			if (command === "get_state" && typeof data === "object" && data !== null && "sessionId" in data)
				askedSessionId ??= String(data.sessionId);
		},
		{ types: ["response"] },
	);
	const outcome = await managed.settled;
	const handler = managed.bus.getHandler(PI_EVENTS_HANDLER);
	if (!(handler instanceof PiEventsHandler)) throw new TypeError("no events handler");
	return { facts: handler.getFacts(), record, outcome, askedSessionId, chunks };
}
