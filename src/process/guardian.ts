import { type ChildProcess, spawn } from "node:child_process";
import { Socket } from "node:net";
import { guardianScript } from "./guardian-script.ts";
import { isSignallable } from "./process-identity.ts";
import { createProcessTable, type ProcessMarker } from "./process-table.ts";
import { messageOf } from "./process-table-command.ts";
import { readLinuxProcess } from "./process-table-linux.ts";

export interface GuardianOptions {
	readonly platform?: NodeJS.Platform | undefined;
	/** Milliseconds between TERM and KILL. Default 1500: all is gone within two seconds of the end of this process. */
	readonly graceMs?: number | undefined;
}

/** A child to be ended with this process: with its group if it leads one, its descendants, and who carries its marker. */
export interface GuardedChild {
	readonly pid: number;
	/** Ignored, and counted, when name or value hold white space or control characters. */
	readonly marker?: ProcessMarker | undefined;
}

interface Guarded {
	readonly pid: number;
	readonly marker: string;
	/** Unknown until the process table has answered; until then the child is not guarded. */
	startTime: string | undefined;
}

/** How often a guardian that died by itself is replaced before the next `register()`. */
const REPLACEMENTS = 3;

/**
 * Ends registered children when this process ends in any way, SIGKILL included.
 *
 * One `sh` in a session of its own holds the read end of a pipe from this process, and is told the list of children
 * whenever it changes. When the pipe closes it sends TERM at once and KILL after the grace, to processes whose start
 * time is the one that was recorded. It starts with the first child, never keeps this process alive, and is replaced
 * when it dies. Not on Windows: what does this there, a job object, cannot be had from Node.
 */
export class Guardian {
	readonly supported: boolean;
	readonly #platform: NodeJS.Platform;
	readonly #graceMs: number;
	readonly #children = new Set<Guarded>();
	#process: ChildProcess | undefined;
	#replacements = 0;
	#disposed = false;
	#errors = 0;
	#lastError: string | undefined;

	constructor(options: GuardianOptions = {}) {
		this.#platform = options.platform ?? process.platform;
		this.#graceMs = options.graceMs ?? 1500;
		this.supported = this.#platform !== "win32";
	}

	/** Pid of the guarding process, while there is one. */
	get pid(): number | undefined {
		return this.#process?.pid;
	}

	/** What went wrong so far; none of it reaches the caller otherwise. */
	get diagnostics(): { readonly errors: number; readonly lastError: string | undefined } {
		return { errors: this.#errors, lastError: this.#lastError };
	}

	/**
	 * Guards a living child. On Linux from the return of this call on, elsewhere some 20 ms later.
	 * @returns what ends the guard: to be called once the child and its descendants are gone, or may live on
	 */
	register(child: GuardedChild): () => void {
		if (!this.supported) return () => undefined;
		if (this.#disposed || !isSignallable(child.pid)) {
			this.#count(this.#disposed ? "registered after dispose()" : `pid ${child.pid} cannot be guarded`);
			return () => undefined;
		}
		const guarded: Guarded = { pid: child.pid, marker: this.#markerText(child.marker), startTime: undefined };
		this.#children.add(guarded);
		this.#replacements = REPLACEMENTS;
		this.#findStartTime(guarded);
		return () => {
			if (this.#children.delete(guarded)) this.#tell();
		};
	}

	/** Closes the pipe. What is still registered is ended, as at the end of this process. */
	dispose(): void {
		this.#disposed = true;
		this.#children.clear();
		this.#process?.stdin?.end();
		this.#process = undefined;
	}

	#findStartTime(guarded: Guarded): void {
		const found = (startTime: string | undefined): void => {
			if (startTime === undefined) this.#count(`pid ${guarded.pid} is not in the process table`);
			guarded.startTime = startTime;
			if (this.#children.has(guarded)) this.#tell();
		};
		if (this.#platform === "linux") found(readLinuxProcess(guarded.pid)?.startTime);
		else
			void createProcessTable(this.#platform)
				.find(guarded.pid)
				.then((entry) => found(entry?.startTime));
	}

	/** Sends the whole list, which makes a replacement know what its predecessor knew. */
	#tell(): void {
		const known = [...this.#children].filter((child) => child.startTime !== undefined);
		if (this.#process === undefined) {
			if (known.length === 0) return;
			this.#process = this.#start();
		}
		const words = known.map((child) => `${child.pid} ${child.startTime} ${child.marker}`);
		this.#process?.stdin?.write(`${words.join(" ")}\n`);
	}

	#start(): ChildProcess | undefined {
		// The script comes by the environment, so that a list of processes shows one line and not a page.
		const args = ["-c", 'eval "$SCRIPT"', "flightdeck-guardian", this.#platform, String(this.#graceMs / 1000)];
		try {
			const child = spawn("/bin/sh", args, {
				cwd: "/",
				detached: true,
				// Not ours: it would make the guardian a carrier of the markers that this process inherited.
				env: { PATH: `/usr/bin:/bin:${process.env.PATH ?? ""}`, LC_ALL: "C", TZ: "UTC0", SCRIPT: guardianScript },
				stdio: ["pipe", "ignore", "ignore"],
			});
			child.on("error", (error) => this.#lost(child, messageOf(error)));
			child.on("exit", (code, signal) => this.#lost(child, `the guardian ended (${signal ?? code})`));
			// EPIPE, when it died and we do not know yet: `exit` follows and replaces it.
			child.stdin.on("error", (error) => this.#count(messageOf(error)));
			child.unref();
			if (child.stdin instanceof Socket) child.stdin.unref();
			return child;
		} catch (error) {
			this.#count(messageOf(error));
			return undefined;
		}
	}

	#lost(child: ChildProcess, reason: string): void {
		if (this.#process !== child) return;
		this.#process = undefined;
		this.#count(reason);
		if (this.#replacements-- > 0) this.#tell();
	}

	#markerText(marker: ProcessMarker | undefined): string {
		if (marker === undefined) return "-";
		const text = `${marker.name}=${marker.value}`;
		if (/^[!-~]+$/.test(text)) return text;
		this.#count(`marker ${JSON.stringify(text)} cannot be passed on`);
		return "-";
	}

	#count(error: string): void {
		this.#errors++;
		this.#lastError = error;
	}
}
