import { spawn } from "node:child_process";
import { describe, expect, it, vi } from "vitest";
import {
	hrNow,
	hrToEpoch,
	ManagedProcessFactory,
	OutputHandlerRegistry,
	OutputSources,
	processOriginEpoch,
	sourceKey,
} from "../../src/process/index.ts";
import { recordingHandler } from "./bus-probe.ts";
import { childCommand, startChild } from "./started-child.ts";

const empty = () => new OutputHandlerRegistry();

/** A spawn of something that is not there. */
function spawnNothing(registry = empty()) {
	const child = spawn("/nonexistent/program", [], { stdio: ["ignore", "pipe", "pipe"] });
	return new ManagedProcessFactory(registry).create(child, { label: "test" });
}

describe("wiring", () => {
	it("in the tick of the spawn: line, exit and lifecycle reach listeners added right after, handlers come by label", async () => {
		const registry = empty();
		const handler = recordingHandler({ sources: [OutputSources.stdout, OutputSources.stderr] });
		const contexts: unknown[] = [];
		registry.registerFactory({
			name: "recording",
			processFilter: ["git"],
			create: (context) => {
				contexts.push({ ...context, emit: undefined, wants: undefined });
				return handler;
			},
		});
		const { managed, lines, lifecycle } = startChild("say.sh", { registry, label: "git", runId: "r1", nodeId: "n1" });
		const exit = vi.fn();
		managed.on("exit", exit);
		expect(managed.bus.getHandlerNames()).toEqual(["recording"]);
		const outcome = await managed.settled;
		expect(lines.sort()).toEqual(["to stderr", "to stdout"]);
		expect(handler.windows.flat().sort()).toEqual(["to stderr", "to stdout"]);
		expect(handler.seen.map(sourceKey).sort()).toEqual(["stderr", "stdout"]);
		expect(contexts).toEqual([{ processLabel: "git", runId: "r1", nodeId: "n1", emit: undefined, wants: undefined }]);
		expect(exit.mock.calls).toEqual([[0, null]]);
		expect(lifecycle.map(({ type }) => type).filter((type) => type !== "final_drain")).toEqual([
			"spawned",
			"exit",
			"close",
		]);
		expect(outcome).toEqual({
			code: 0,
			signal: null,
			spawnError: undefined,
			stopReason: undefined,
			forcedExit: false,
			streams: "closed",
			stderrTail: "to stderr\n",
			leftovers: [],
		});
	});

	it("a factory that throws and a second handler of a name are counted and block nobody", async () => {
		const registry = empty();
		const good = recordingHandler();
		registry.registerFactory({ name: "good", processFilter: ["*"], create: () => good });
		registry.registerFactory({ name: "same", processFilter: ["*"], create: () => recordingHandler() });
		registry.registerFactory({
			name: "failing",
			processFilter: ["*"],
			create: () => {
				throw new Error("broken");
			},
		});
		const { managed } = startChild("say.sh", { registry });
		await managed.settled;
		expect(good.windows).toEqual([["to stdout"]]);
		expect(managed.bus.getMetrics()).toMatchObject({
			handlerErrors: { recording: 1, failing: 1 },
			lastError: { message: expect.stringContaining("already") },
		});
	});

	it("invariant 2: a torn last line of each stream is delivered before settled", async () => {
		const { managed, lines } = startChild("torn-line.sh");
		await managed.settled;
		expect(lines.sort()).toEqual(["four", "one", "three", "two"]);
	});

	it("limits lines where asked, as a plain number for every source", async () => {
		const { managed, lines } = startChild("say.sh", { maxLineBytes: 3 });
		const overlong: number[] = [];
		managed.bus.subscribe(({ bytes }) => overlong.push(bytes), { types: ["overlong"] });
		await managed.settled;
		expect(lines).toEqual([]);
		expect(overlong).toEqual([9, 9]);
	});

	it("unsubscribes, and an error of a listener reaches no other and not the process", async () => {
		const { managed, lines, said } = startChild("wait-forever.sh");
		const removed = vi.fn();
		for (const event of ["exit", "lifecycle", "line", "error"] as const) managed.on(event, removed)();
		const fail = () => {
			throw new Error("broken listener");
		};
		managed.on("exit", fail);
		managed.on("line", fail);
		managed.on("lifecycle", async () => fail());
		const exit = vi.fn();
		managed.on("exit", exit);
		await said("ready");
		managed.kill();
		await managed.settled;
		expect(lines).toEqual(["ready"]);
		expect(removed).not.toHaveBeenCalled();
		expect(exit.mock.calls).toEqual([[null, "SIGTERM"]]);
		const { listenerErrors, lastError } = managed.bus.getMetrics();
		// One line, one exit, three events: exit, close and, if it was still to come, spawned and final_drain.
		expect(listenerErrors).toBeGreaterThanOrEqual(4);
		expect(lastError).toEqual({ who: "lifecycle listener", message: "broken listener" });
	});

	it("the bus is disposed at settled, its handlers once, and still tells what they extracted", async () => {
		const registry = empty();
		const dispose = vi.fn();
		const handler = recordingHandler({ dispose });
		registry.registerFactory({ name: "recording", processFilter: ["*"], create: () => handler });
		const { managed } = startChild("say.sh", { registry });
		await managed.settled;
		expect(dispose).toHaveBeenCalledTimes(1);
		expect(managed.bus.getHandler("recording")).toBe(handler);
		expect(managed.bus.getMetrics().linesBySource).toEqual({ stdout: 1, stderr: 1 });
		managed.bus.feed(Buffer.from("x\n"), OutputSources.stdout);
		expect(handler.windows).toEqual([["to stdout"]]);
	});

	it("a child without pipes settles with its exit", async () => {
		const child = spawn(...childCommand("exit-code.sh", ["4"]), { stdio: "ignore", detached: true });
		const managed = new ManagedProcessFactory(empty()).create(child, { label: "test" });
		expect(await managed.settled).toMatchObject({ code: 4, streams: "closed", stderrTail: "" });
	});
});

describe("timestamps and durations", () => {
	it("come in order, convert to the wall clock, and durations are their differences", async () => {
		const wallBefore = Date.now();
		const requestedAt = hrNow();
		const { managed, said } = startChild("wait-forever.sh", { requestedAt });
		expect(managed.timestamps).toMatchObject({ requested: requestedAt, running: undefined, exited: undefined });
		expect(managed.durations).toMatchObject({
			startupLatency: undefined,
			processLifetime: undefined,
			killLatency: undefined,
		});
		await said("ready");
		const running = managed.durations;
		await new Promise(setImmediate);
		expect(managed.durations.total).toBeGreaterThan(running.total);
		expect(managed.durations.processLifetime).toBeGreaterThan(running.processLifetime ?? Number.NaN);
		managed.kill("SIGKILL");
		await managed.settled;
		const { requested, created, running: ran = 0, killRequested = 0, killed = 0, exited = 0 } = managed.timestamps;
		const inOrder = [requested, created, ran, killRequested, killed, exited];
		expect(inOrder.toSorted((a, b) => a - b)).toEqual(inOrder);
		expect(managed.durations).toEqual({
			total: exited - requested,
			spawnLatency: created - requested,
			startupLatency: ran - created,
			processLifetime: exited - ran,
			killLatency: exited - killRequested,
		});
		expect(hrToEpoch(requested)).toBe(processOriginEpoch + requested);
		// Clocks are set while machines run; a test does not take minutes.
		expect(Math.abs(hrToEpoch(requested) - wallBefore)).toBeLessThan(60_000);
	});

	it("requested is created when nobody said more", () => {
		const { managed } = startChild("exit-code.sh", { args: ["0"] });
		expect(managed.timestamps.requested).toBe(managed.timestamps.created);
		expect(managed.durations.spawnLatency).toBe(0);
	});
});

describe("diagnostics", () => {
	it("answer at once, while it runs, and after the end", async () => {
		const { managed, pid, said } = startChild("wait-forever.sh");
		expect(managed.diagnostics()).toMatchObject({
			pid,
			exitCode: null,
			killed: false,
			handlerNames: [],
			busMetrics: { bytes: 0 },
			tailerMetrics: {},
			timestamps: { running: undefined },
		});
		await said("ready");
		expect(managed.diagnostics()).toMatchObject({ killed: false, busMetrics: { linesBySource: { stdout: 1 } } });
		managed.kill("SIGKILL");
		await managed.settled;
		const after = managed.diagnostics();
		expect(after).toMatchObject({ pid, exitCode: null, killed: true });
		expect(managed.diagnostics()).toEqual(after);
		expect(JSON.parse(JSON.stringify(after))).toMatchObject({ pid });
	});

	it("answer when it could not be started", async () => {
		const managed = spawnNothing();
		expect(managed.diagnostics()).toMatchObject({ pid: undefined, exitCode: null, killed: false });
		await managed.settled;
		expect(managed.diagnostics()).toMatchObject({ pid: undefined, exitCode: null, timestamps: { running: undefined } });
	});
});

describe("the end as it came", () => {
	it.each([
		["exit-code.sh", ["0"], 0, null],
		["exit-code.sh", ["3"], 3, null],
		["exit-code.sh", ["143"], 143, null],
		["kill-self.sh", ["KILL"], null, "SIGKILL"],
		["kill-self.sh", ["ABRT"], null, "SIGABRT"],
		["kill-self.sh", ["INT"], null, "SIGINT"],
	])("A9: %s %s", async (script, args, code, signal) => {
		const { managed, lifecycle } = startChild(script, { args });
		const exit = vi.fn();
		managed.on("exit", exit);
		expect(await managed.settled).toMatchObject({ code, signal, forcedExit: false, stopReason: undefined });
		expect(managed.exitCode).toBe(code);
		expect(managed.killed).toBe(false);
		expect(exit.mock.calls).toEqual([[code, signal]]);
		for (const type of ["exit", "close"]) {
			const event = lifecycle.find((candidate) => candidate.type === type);
			expect(event).toMatchObject({ code, signal });
			expect(event?.error === undefined).toBe(code === 0);
		}
	});

	it("A9: out of memory is SIGABRT with the reason on stderr", async () => {
		const [node, [script = ""]] = childCommand("run-out-of-memory.mjs");
		const child = spawn(node, ["--max-old-space-size=20", script], {
			stdio: ["ignore", "pipe", "pipe"],
			detached: true,
		});
		const managed = new ManagedProcessFactory(empty()).create(child, { label: "test" });
		const outcome = await managed.settled;
		expect(outcome).toMatchObject({ code: null, signal: "SIGABRT", forcedExit: false });
		expect(outcome.stderrTail).toContain("heap out of memory");
	});

	it("an unexpected end is told with code and stderr, in events of their own time", async () => {
		const before = Date.now();
		const { managed, lifecycle, pid } = startChild("fail-with-stderr.sh", { args: ["7"] });
		await managed.settled;
		const close = lifecycle.at(-1);
		expect(close).toEqual({
			type: "close",
			ts: expect.any(String),
			pid,
			code: 7,
			signal: null,
			error: "process exited with code 7: first cause\nlast words",
			stderrExcerpt: "first cause\nlast words",
		});
		expect(new Date(close?.ts ?? "").toISOString()).toBe(close?.ts);
		expect(Date.parse(close?.ts ?? "")).toBeGreaterThanOrEqual(before);
	});

	it("B20: 10 MB of stderr leave a tail of 64 KiB cut at a character, 1,000 characters in the error, 500 in the excerpt", async () => {
		const { managed, lifecycle } = startChild("flood-stderr.mjs", { args: ["10000000"] });
		const { stderrTail, signal } = await managed.settled;
		expect(signal).toBe("SIGKILL");
		expect(Buffer.byteLength(stderrTail)).toBe(3 * Math.floor((64 * 1024) / 3));
		expect(stderrTail).toMatch(/^€+$/);
		const close = lifecycle.at(-1);
		expect(close?.error).toBe(`process was ended by signal SIGKILL: ${"€".repeat(1000)}`);
		expect(close?.stderrExcerpt).toBe("€".repeat(500));
	});
});

describe("a child that could not be started", () => {
	it("has no pid, is told as spawn_error, and settles; a missing error listener throws nothing", async () => {
		const managed = spawnNothing();
		const types: string[] = [];
		managed.on("lifecycle", ({ type }) => types.push(type));
		const exit = vi.fn();
		managed.on("exit", exit);
		const operation = managed.trackOperation("prompt");
		expect(managed.kill()).toBe(false);
		const outcome = await managed.settled;
		expect(outcome).toEqual({
			code: null,
			signal: null,
			spawnError: expect.stringContaining("ENOENT"),
			stopReason: undefined,
			forcedExit: false,
			streams: "closed",
			stderrTail: "",
			leftovers: [],
		});
		expect(managed.pid).toBeUndefined();
		expect(types).toEqual(["spawn_error", "close"]);
		expect(exit).not.toHaveBeenCalled();
		await expect(operation.promise).rejects.toThrow(/could not be started.*ENOENT/);
		expect(await managed.stop("late")).toBe(outcome);
	});

	it("tells error listeners, each of them", async () => {
		const managed = spawnNothing();
		const errors: string[] = [];
		managed.on("error", () => {
			throw new Error("broken");
		});
		managed.on("error", ({ message }) => errors.push(message));
		const outcome = await managed.stop("at once");
		expect(errors).toEqual([expect.stringContaining("ENOENT")]);
		expect(outcome.stopReason).toBeUndefined();
		expect(managed.bus.getMetrics().lastError).toEqual({ who: "error listener", message: "broken" });
	});
});
