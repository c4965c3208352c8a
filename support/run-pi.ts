import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import type { JsonAgentSessionEvent, SessionHeader } from "@earendil-works/pi-coding-agent";

export interface RunPiOptions {
	/** Without the program itself, e.g. `["--mode", "json", "-ne", "hello"]`. */
	readonly args: readonly string[];
	/** The complete environment, as `createAgentDirectory` makes it. */
	readonly env: NodeJS.ProcessEnv;
	readonly cwd: string;
	/** Written to stdin, which is then closed; without it stdin is closed from the start. */
	readonly input?: string;
	/** After so many ms pi is ended; 30,000 by default. */
	readonly timeoutMs?: number;
	/** Ends pi in the same way as the time-out. */
	readonly signal?: AbortSignal;
}

/** A line of json mode. */
export type PiRecord = SessionHeader | JsonAgentSessionEvent;

export interface PiRun {
	readonly code: number | null;
	readonly signal: NodeJS.Signals | null;
	readonly timedOut: boolean;
	/** From spawn to the end of the streams, in ms. */
	readonly durationMs: number;
	/** The lines of stdout that are JSON objects; in print mode usually none. */
	readonly records: readonly PiRecord[];
	/** All other lines of stdout, a partial last one included. */
	readonly otherLines: readonly string[];
	readonly stdout: string;
	readonly stderr: string;
}

/** The bundled command line: it starts in half the time of `dist/cli.js`. */
export const PI_CLI = fileURLToPath(new URL("bundle/cli.js", import.meta.resolve("@earendil-works/pi-coding-agent")));

/** How long pi has after SIGTERM to end its tools, in ms. */
const TERM_GRACE_MS = 2000;
const LF = 0x0a;

/** Runs the real pi in json or print mode to its end. */
export async function runPi(options: RunPiOptions): Promise<PiRun> {
	const { args, env, cwd, input, timeoutMs = 30_000 } = options;
	const startedAt = performance.now();
	const child = spawn(process.execPath, [PI_CLI, ...args], {
		cwd,
		env,
		detached: process.platform !== "win32",
		stdio: [input === undefined ? "ignore" : "pipe", "pipe", "pipe"],
	});
	const [stdout, stderr] = [collect(child.stdout), collect(child.stderr)];
	const limit = endAfter(child, timeoutMs, options.signal);
	child.stdin?.on("error", (error) => stderr.push(Buffer.from(`\n[runPi] stdin: ${error.message}\n`)));
	child.stdin?.end(input);
	const [code, signal] = await closed(child).finally(limit.clear);
	return {
		code,
		signal,
		timedOut: limit.timedOut(),
		durationMs: performance.now() - startedAt,
		...parseLines(Buffer.concat(stdout)),
		stdout: Buffer.concat(stdout).toString("utf8"),
		stderr: Buffer.concat(stderr).toString("utf8"),
	};
}

/** Exit code and signal once the streams have ended too; rejects when pi could not be started. */
async function closed(child: ChildProcess): Promise<[number | null, NodeJS.Signals | null]> {
	const [code, signal]: unknown[] = await once(child, "close");
	return [code as number | null, signal as NodeJS.Signals | null];
}

function collect(stream: NodeJS.ReadableStream | null): Buffer[] {
	const chunks: Buffer[] = [];
	stream?.on("data", (chunk: Buffer) => chunks.push(chunk));
	return chunks;
}

/**
 * Ends pi after the time or on the signal: SIGTERM, on which pi ends its tools too; then SIGKILL for its process group,
 * and our ends of its streams are closed.
 */
function endAfter(child: ChildProcess, timeoutMs: number, signal: AbortSignal | undefined) {
	let killTimer: NodeJS.Timeout | undefined;
	let timedOut = false;
	const end = () => {
		child.kill("SIGTERM");
		killTimer ??= setTimeout(() => {
			killGroup(child);
			child.stdout?.destroy();
			child.stderr?.destroy();
		}, TERM_GRACE_MS);
	};
	const timer = setTimeout(() => {
		timedOut = true;
		end();
	}, timeoutMs);
	if (signal?.aborted) end();
	else signal?.addEventListener("abort", end, { once: true });
	return {
		timedOut: () => timedOut,
		clear: () => {
			clearTimeout(timer);
			clearTimeout(killTimer);
			signal?.removeEventListener("abort", end);
		},
	};
}

function killGroup(child: ChildProcess): void {
	if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
	if (process.platform === "win32") child.kill("SIGKILL");
	else process.kill(-child.pid, "SIGKILL");
}

/** Splits on the byte LF only: U+2028 and U+2029 stand raw inside of the JSON. */
function parseLines(bytes: Buffer): Pick<PiRun, "records" | "otherLines"> {
	const records: PiRecord[] = [];
	const otherLines: string[] = [];
	for (let start = 0; start < bytes.length; ) {
		const end = bytes.indexOf(LF, start);
		const line = bytes.toString("utf8", start, end === -1 ? bytes.length : end);
		const record = parseRecord(line);
		if (record === undefined) otherLines.push(line);
		else records.push(record);
		start = end === -1 ? bytes.length : end + 1;
	}
	return { records, otherLines };
}

function parseRecord(line: string): PiRecord | undefined {
	if (!line.startsWith("{")) return undefined;
	try {
		return JSON.parse(line) as PiRecord;
	} catch (error) {
		if (error instanceof SyntaxError) return undefined;
		throw error;
	}
}
