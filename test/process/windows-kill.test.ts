import { ChildProcess } from "node:child_process";
import { describe, expect, it, vi } from "vitest";
import type { ManagedProcessFactoryOptions, ProcessEntry, ProcessTable } from "../../src/process/index.ts";
import { isAlive, type StartOptions, startChild } from "./started-child.ts";

/**
 * Windows as far as the logic goes: a table of a child with two descendants, the second one's parent gone from the table
 * once the child is, and a taskkill that ends who it is told to end, after `taskkillMs`. The child is real.
 */
function fakeWindows(spared: readonly number[] = [], taskkillMs = 0) {
	const calls: string[] = [];
	const finished: string[] = [];
	const alive = new Map<number, ProcessEntry>();
	const add = (pid: number, ppid: number, startTime = "1") =>
		alive.set(pid, { pid, ppid, pgid: undefined, startTime, zombie: false });
	let childPid = 0;
	const table: ProcessTable = {
		list: async () => [...alive.values()],
		carriers: async () => [],
		find: async (pid) => alive.get(pid),
		bootId: async () => "boot",
		lastError: undefined,
	};
	const factory: ManagedProcessFactoryOptions = {
		platform: "win32",
		table,
		spawn: (command, args) => {
			expect(command).toBe("taskkill");
			calls.push(args.join(" "));
			const taskkill = new ChildProcess();
			setTimeout(() => {
				const pid = Number(args[1]);
				// With /T, descendants go too, but only those that a living chain of parents leads to.
				const ended = args.includes("/T") ? [pid, DESCENDANT] : [pid];
				for (const each of ended.filter((each) => !spared.includes(each))) {
					alive.delete(each);
					if (each === childPid) process.kill(childPid, "SIGKILL");
				}
				finished.push(args.join(" "));
				taskkill.emit("close", 0, null);
			}, taskkillMs);
			return taskkill;
		},
	};
	return {
		calls,
		finished,
		alive,
		add,
		start(options: StartOptions = {}, script = "wait-forever.sh") {
			const started = startChild(script, { factory, ...options });
			childPid = started.pid;
			add(childPid, process.pid);
			add(DESCENDANT, childPid);
			return started;
		},
	};
}

const DESCENDANT = 900_000_001;
const ORPHAN = 900_000_002;

describe("stop() on Windows", () => {
	it("K4: waits for taskkill /T /F of the tree, and verifies", async () => {
		const windows = fakeWindows([], 300);
		const { managed, pid, lifecycle } = windows.start();
		const outcome = await managed.stop("user");
		expect(windows.finished).toEqual([`/PID ${pid} /T /F`]);
		expect(outcome).toMatchObject({ stopReason: "user", forcedExit: true, signal: "SIGKILL", leftovers: [] });
		expect(lifecycle.map(({ type }) => type)).toContain("hard_kill");
		expect(managed.timestamps.killed).toBeDefined();
	});

	it("K4: a descendant that taskkill did not find is ended by its own pid", async () => {
		const windows = fakeWindows();
		const started = windows.start();
		windows.add(ORPHAN, DESCENDANT);
		expect(await started.managed.stop("user")).toMatchObject({ leftovers: [] });
		expect(windows.calls).toEqual([`/PID ${started.pid} /T /F`, `/PID ${ORPHAN} /F`]);
	});

	it("K4: survivors of both are named", async () => {
		const windows = fakeWindows([ORPHAN]);
		const started = windows.start();
		windows.add(ORPHAN, DESCENDANT);
		expect(await started.managed.stop("user")).toMatchObject({ signal: "SIGKILL", leftovers: [ORPHAN] });
	}, 20_000);

	it("K4: a child that taskkill cannot end is named, and stop() ends nevertheless", async () => {
		const spared: number[] = [];
		const windows = fakeWindows(spared);
		const { managed, pid } = windows.start({ drain: { idleMs: 50 } });
		spared.push(pid);
		const outcome = await managed.stop("user");
		expect(outcome).toMatchObject({ code: null, signal: null, stopReason: "user", streams: "held", leftovers: [pid] });
		expect(isAlive(pid)).toBe(true);
	}, 20_000);

	it("A15: a pid that was given to another process is left alone", async () => {
		const windows = fakeWindows();
		const { managed, pid } = windows.start({
			ladder: {
				request: () => {
					windows.add(DESCENDANT, 4, "later");
				},
			},
		});
		expect(await managed.stop("user")).toMatchObject({ leftovers: [] });
		expect(windows.calls).toEqual([`/PID ${pid} /T /F`]);
	});

	it("K8: the runtime's request comes first; honoured, it needs no taskkill, not even when it hangs", async () => {
		const windows = fakeWindows();
		let pid = 0;
		const request = vi.fn(() => {
			expect(windows.calls).toEqual([]);
			windows.alive.delete(pid);
			windows.alive.delete(DESCENDANT);
			process.kill(pid, "SIGTERM");
			return new Promise(() => undefined);
		});
		const started = windows.start({ ladder: { request, graceMs: 600_000 } }, "exit-zero-on-term.mjs");
		pid = started.pid;
		await started.said("ready");
		expect(await started.managed.stop("user")).toMatchObject({
			code: 0,
			stopReason: "user",
			forcedExit: false,
			leftovers: [],
		});
		expect(request).toHaveBeenCalledTimes(1);
		expect(windows.calls).toEqual([]);
	});

	it("after an honoured request only the descendants it left are ended: the child's pid may be a stranger's", async () => {
		const windows = fakeWindows();
		let pid = 0;
		const request = () => {
			windows.add(pid, 4, "stranger");
			process.kill(pid, "SIGTERM");
			return new Promise(() => undefined);
		};
		const started = windows.start({ ladder: { request, graceMs: 600_000 } }, "exit-zero-on-term.mjs");
		pid = started.pid;
		await started.said("ready");
		expect(await started.managed.stop("user")).toMatchObject({ code: 0, forcedExit: true, leftovers: [] });
		expect(windows.calls).toEqual([`/PID ${DESCENDANT} /F`]);
	});

	it.each<[string, () => unknown]>([
		["fails", async () => Promise.reject(new Error("broken"))],
		["hangs", () => new Promise(() => undefined)],
	])("a request that %s is followed by taskkill", async (_, request) => {
		const windows = fakeWindows();
		const { managed, pid } = windows.start({ ladder: { request, graceMs: 100 } });
		expect(await managed.stop("user")).toMatchObject({ forcedExit: true, leftovers: [] });
		expect(windows.calls).toEqual([`/PID ${pid} /T /F`]);
	});
});

describe("kill() on Windows", () => {
	it("ends the tree by taskkill, whatever the signal; 0 is a probe; no signal goes to a group", async () => {
		const windows = fakeWindows();
		const { managed, pid } = windows.start();
		expect(managed.kill(0)).toBe(true);
		expect(windows.calls).toEqual([]);
		expect(managed.kill("SIGINT")).toBe(true);
		expect(await managed.settled).toMatchObject({ signal: "SIGKILL", stopReason: undefined, forcedExit: true });
		expect(windows.calls).toEqual([`/PID ${pid} /T /F`]);
		expect(managed.timestamps.killed).toBeDefined();
	});
});
