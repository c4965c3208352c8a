import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it, vi } from "vitest";
import { createProcessTable } from "../../src/process/process-table.ts";
import { runStopLadder } from "../../src/process/stop-ladder.ts";
import { isAlive, startChild, temporaryDirectory } from "./started-child.ts";

/** Longer than any test: a step that waits for it has failed. */
const NEVER_MS = 600_000;

describe("the steps of stop()", () => {
	it("a request that is honoured needs no signal", async () => {
		const file = join(temporaryDirectory(), "stop");
		const seen: AbortSignal[] = [];
		const request = (signal: AbortSignal) => {
			seen.push(signal);
			writeFileSync(file, "");
			return new Promise(() => undefined);
		};
		const { managed, said, lifecycle } = startChild("exit-when-file-appears.mjs", {
			args: [file],
			ladder: { request, graceMs: NEVER_MS },
		});
		await said("ready");
		expect(await managed.stop("user")).toMatchObject({
			code: 0,
			signal: null,
			stopReason: "user",
			forcedExit: false,
			leftovers: [],
		});
		expect(existsSync(file)).toBe(true);
		// The request is told when it is over, and asked once.
		expect(seen.map(({ aborted }) => aborted)).toEqual([true]);
		expect(managed.timestamps.killed).toBeUndefined();
		expect(lifecycle.at(-1)).toMatchObject({ type: "close", code: 0 });
	});

	it.each<[string, () => unknown]>([
		[
			"throws",
			() => {
				throw new Error("broken");
			},
		],
		["rejects", async () => Promise.reject(new Error("broken"))],
		["answers and changes nothing", () => undefined],
	])("a request that %s is followed by TERM at once", async (_, request) => {
		const { managed, said } = startChild("exit-zero-on-term.mjs", { ladder: { request, graceMs: NEVER_MS } });
		await said("ready");
		expect(await managed.stop("user")).toMatchObject({ code: 0, forcedExit: true, stopReason: "user" });
	});

	it("a request that hangs is followed by TERM after the grace", async () => {
		const { managed, said } = startChild("exit-zero-on-term.mjs", {
			ladder: { request: () => new Promise(() => undefined), graceMs: 300 },
		});
		await said("ready");
		expect(await managed.stop("user")).toMatchObject({ code: 0, forcedExit: true });
		expect(managed.durations.killLatency).toBeGreaterThanOrEqual(299);
	});

	it("TERM that is honoured needs no KILL; late words are heard (A10)", async () => {
		const { managed, said, lines, lifecycle } = startChild("exit-zero-on-term.mjs", { ladder: { graceMs: NEVER_MS } });
		await said("ready");
		const outcome = await managed.stop("budget");
		expect(outcome).toMatchObject({ code: 0, signal: null, stopReason: "budget", forcedExit: true, streams: "closed" });
		expect(lines).toEqual(["ready", "bye"]);
		expect(lifecycle.map(({ type }) => type)).not.toContain("hard_kill");
		expect(managed.timestamps.killed).toBeUndefined();
	});

	it("two TERMs, where the runtime wants them, with the gap between", async () => {
		const { managed, said, lines } = startChild("exit-on-second-term.mjs", {
			ladder: { terms: 2, termGapMs: 200, graceMs: NEVER_MS },
		});
		await said("ready");
		expect(await managed.stop("user")).toMatchObject({ code: 143, signal: null, forcedExit: true });
		expect(lines).toEqual(["ready", "term 1", "term 2"]);
		expect(managed.durations.killLatency).toBeGreaterThanOrEqual(199);
		expect(managed.timestamps.killed).toBeUndefined();
	});

	it("one TERM is the default: who wants a second one is killed", async () => {
		const { managed, said, lines } = startChild("exit-on-second-term.mjs", { ladder: { graceMs: 300 } });
		await said("ready");
		expect(await managed.stop("user")).toMatchObject({ signal: "SIGKILL" });
		expect(lines).toEqual(["ready", "term 1"]);
	});

	it("TERM that is ignored becomes KILL after the grace", async () => {
		const { managed, said, lifecycle, pid } = startChild("ignore-term.sh", { ladder: { graceMs: 300 } });
		await said("ready");
		expect(await managed.stop("user")).toMatchObject({
			code: null,
			signal: "SIGKILL",
			forcedExit: true,
			leftovers: [],
		});
		const { killRequested = 0, killed = 0, exited = 0 } = managed.timestamps;
		expect(killed - killRequested).toBeGreaterThanOrEqual(299);
		expect(exited).toBeGreaterThanOrEqual(killed);
		expect(lifecycle.map(({ type }) => type)).toContain("hard_kill");
		expect(isAlive(pid)).toBe(false);
	});

	it("told that its child does not die, it says so and ends", async () => {
		const { pid } = startChild("ignore-term.sh");
		const table = createProcessTable();
		const onHardKill = vi.fn();
		const result = await runStopLadder(
			{
				pid,
				ownGroup: true,
				marker: undefined,
				table,
				gone: () => false,
				exited: new Promise(() => undefined),
				onHardKill,
			},
			{ graceMs: 50 },
		);
		expect(onHardKill).toHaveBeenCalledTimes(1);
		expect(result).toEqual({ forced: true, leftovers: [pid] });
	});
});

describe("a ladder that breaks", () => {
	it("ends the child all the same, and names its fault", async () => {
		const broken = async () => Promise.reject(new Error("no table"));
		const table = { ...createProcessTable(), list: broken };
		const { managed, said } = startChild("ignore-term.sh", { factory: { table } });
		await said("ready");
		expect(await managed.stop("user")).toMatchObject({
			signal: "SIGKILL",
			stopReason: "user",
			forcedExit: true,
			leftovers: [],
		});
		expect(managed.bus.getMetrics().lastError).toEqual({ who: "stop ladder", message: "no table" });
	});
});

describe("stop() and other ends", () => {
	it("the first reason wins, later calls join the first and get the same outcome", async () => {
		const request = vi.fn(() => undefined);
		const { managed, said } = startChild("exit-zero-on-term.mjs", { ladder: { request } });
		await said("ready");
		const outcomes = await Promise.all([managed.stop("first"), managed.stop("second"), managed.settled]);
		expect(outcomes[0]).toMatchObject({ stopReason: "first" });
		expect(outcomes[1]).toBe(outcomes[0]);
		expect(outcomes[2]).toBe(outcomes[0]);
		expect(await managed.stop("third")).toBe(outcomes[0]);
		expect(request).toHaveBeenCalledTimes(1);
	});

	it("after the exit changes nothing, even when the output is still to be read", async () => {
		const request = vi.fn();
		const { managed, saidPid } = startChild("hold-stdout.sh", {
			args: ["1000"],
			drain: { idleMs: 300 },
			ladder: { request },
		});
		const stopped = new Promise((resolve) => managed.on("exit", () => resolve(managed.stop("late"))));
		const holder = await saidPid("holder");
		expect(await stopped).toMatchObject({ code: 0, stopReason: undefined, leftovers: [holder] });
		expect(await managed.settled).toBe(await stopped);
		expect(request).not.toHaveBeenCalled();
		expect(managed.killed).toBe(false);
		expect(isAlive(holder)).toBe(true);
	});

	it("in the tick of the spawn works", async () => {
		const { managed, lifecycle } = startChild("wait-forever.sh", { ladder: { graceMs: NEVER_MS } });
		const outcome = await managed.stop("at once");
		expect(outcome).toMatchObject({ code: null, signal: "SIGTERM", stopReason: "at once", forcedExit: true });
		expect(lifecycle[0]?.type).toBe("spawned");
	});

	it("A8, invariant 8: a child that answers a stop with code 0 keeps the reason", async () => {
		const { managed, said } = startChild("exit-zero-on-term.mjs");
		await said("ready");
		const outcome = await managed.stop("user");
		expect([outcome.code, outcome.stopReason]).toEqual([0, "user"]);
	});

	it("a child that ends by itself while it is being stopped is stopped", async () => {
		const { managed } = startChild("exit-code.sh", { args: ["6"], ladder: { graceMs: NEVER_MS } });
		expect(await managed.stop("user")).toMatchObject({ stopReason: "user", leftovers: [] });
	});

	it("after kill() records its reason and finishes the work", async () => {
		const { managed, said } = startChild("ignore-term.sh", { ladder: { graceMs: 200 } });
		await said("ready");
		managed.kill();
		expect(await managed.stop("user")).toMatchObject({ signal: "SIGKILL", stopReason: "user" });
		expect(managed.durations.killLatency).toBeLessThan(4900);
	});
});
