import { describe, expect, it, vi } from "vitest";
import {
	type OutputHandler,
	OutputHandlerRegistry,
	OutputSources,
	ProcessOutputBus,
	sourceKey,
} from "../../src/process/index.ts";
import { feed, recordingHandler, recordLines } from "./bus-probe.ts";

type TestEvent = { type: "a"; n: number } | { type: "b"; text: string };

/** A handler that emits an event of type `a` per line, with a count. */
function emittingHandler(bus: ProcessOutputBus<TestEvent>, name = "emitting"): OutputHandler {
	let n = 0;
	return recordingHandler({ name, onLine: () => bus.emit({ type: "a", n: ++n }) });
}

describe("order of a line", () => {
	it("handlers in order of registration, then subscribers, then line listeners", () => {
		const bus = new ProcessOutputBus<TestEvent>();
		const order: string[] = [];
		bus.subscribeLines((line) => order.push(`listener ${line}`));
		bus.subscribe((event) => order.push(`subscriber ${event.type}`));
		for (const name of ["first", "second"])
			bus.register(
				recordingHandler({
					name,
					onLine: ([line]) => {
						order.push(`${name} ${line}`);
						bus.emit({ type: "a", n: 1 });
					},
				}),
			);
		feed(bus, "x\ny\n");
		const once = (line: string) => [
			`first ${line}`,
			`second ${line}`,
			"subscriber a",
			"subscriber a",
			`listener ${line}`,
		];
		expect(order).toEqual([...once("x"), ...once("y")]);
	});

	it("what a subscriber causes to be emitted waits until everybody has the present event, before the line listeners", () => {
		const bus = new ProcessOutputBus<TestEvent>();
		const order: string[] = [];
		bus.register(emittingHandler(bus));
		bus.subscribe((event) => {
			order.push(`one ${event.type}`);
			if (event.type === "a") bus.emit({ type: "b", text: "caused" });
		});
		bus.subscribe((event) => order.push(`two ${event.type}`));
		bus.subscribeLines(() => order.push("listener"));
		feed(bus, "x\n");
		expect(order).toEqual(["one a", "two a", "one b", "two b", "listener"]);
	});

	it("an event emitted outside of a line goes out at once", () => {
		const bus = new ProcessOutputBus<TestEvent>();
		const seen: string[] = [];
		bus.subscribe((event) => seen.push(event.type));
		bus.emit({ type: "b", text: "now" });
		expect(seen).toEqual(["b"]);
	});

	it("keeps sources apart that arrive interleaved, and names them", () => {
		const bus = new ProcessOutputBus();
		const seen: string[] = [];
		bus.subscribeLines((line, source) => seen.push(`${sourceKey(source)} ${line}`));
		bus.feed(Buffer.from("out"), OutputSources.stdout);
		bus.feed(Buffer.from("err\n"), OutputSources.stderr);
		bus.feed(Buffer.from("log\n"), OutputSources.logFile("x"));
		bus.feed(Buffer.from("put\n"), OutputSources.stdout);
		expect(seen).toEqual(["stderr err", "log-file:x log", "stdout output"]);
	});
});

describe("handlers", () => {
	it("see only their sources, once each, log files by name", () => {
		const bus = new ProcessOutputBus();
		const handler = recordingHandler({
			sources: [OutputSources.stderr, OutputSources.stderr, OutputSources.logFile("mine")],
		});
		bus.register(handler);
		for (const source of [
			OutputSources.stdout,
			OutputSources.stderr,
			OutputSources.logFile("mine"),
			OutputSources.logFile("other"),
		])
			bus.feed(Buffer.from(`${sourceKey(source)}\n`), source);
		expect(handler.windows).toEqual([["stderr"], ["log-file:mine"]]);
		expect(bus.getMetrics().handlerInvocations).toEqual({ recording: 2 });
	});

	it("own their window: keeping and changing it changes no other", () => {
		const bus = new ProcessOutputBus();
		const spoiling = recordingHandler({
			name: "spoiling",
			windowSize: 3,
			onLine: (window) => window.fill("spoilt").push("more"),
		});
		const keeping = recordingHandler({ name: "keeping", windowSize: 3 });
		bus.register(spoiling);
		bus.register(keeping);
		feed(bus, "a\nb\nc\nd\n");
		expect(keeping.windows).toEqual([["a"], ["a", "b"], ["a", "b", "c"], ["b", "c", "d"]]);
	});

	it.each([0, -1, 1.5, Number.NaN, Number.POSITIVE_INFINITY])("a window size of %d is refused", (windowSize) => {
		const bus = new ProcessOutputBus();
		expect(() => bus.register(recordingHandler({ windowSize }))).toThrow(/recording.*windowSize/);
		expect(bus.getHandlerNames()).toEqual([]);
	});

	it("a second one of the same name is refused, the first stays", () => {
		const bus = new ProcessOutputBus();
		const first = recordingHandler();
		bus.register(first);
		expect(() => bus.register(recordingHandler())).toThrow(/recording.*already/);
		expect(bus.getHandler("recording")).toBe(first);
	});

	it("registered late see lines from then on, with a window that starts empty", () => {
		const bus = new ProcessOutputBus();
		feed(bus, "a\nb\n");
		const late = recordingHandler({ windowSize: 3 });
		bus.register(late);
		feed(bus, "c\nd\n");
		expect(late.windows).toEqual([["c"], ["c", "d"]]);
	});

	it("registered by another one in the middle of a line see the next", () => {
		const bus = new ProcessOutputBus();
		const late = recordingHandler({ name: "late" });
		bus.register(recordingHandler({ onLine: () => bus.getHandler("late") ?? bus.register(late) }));
		feed(bus, "a\nb\n");
		expect(late.windows).toEqual([["b"]]);
	});

	it("onBytes that answers true costs no decoding; false and a line listener do, once for all", () => {
		const bus = new ProcessOutputBus();
		const decoding = vi.spyOn(Buffer.prototype, "toString");
		try {
			const skipped = vi.fn();
			bus.register(
				recordingHandler({ name: "hot", onBytes: (bytes, start) => bytes[start] === 0x68, onLine: skipped }),
			);
			bus.register(recordingHandler({ name: "cold", sources: [OutputSources.stderr] }));
			feed(bus, "hot\nhot\n");
			expect(decoding).not.toHaveBeenCalled();
			expect(skipped).not.toHaveBeenCalled();
			feed(bus, "cold\n");
			expect(decoding).toHaveBeenCalledTimes(1);
			expect(skipped).toHaveBeenCalledWith(["cold"], OutputSources.stdout);
			recordLines(bus);
			bus.register(recordingHandler({ name: "third" }));
			feed(bus, "hot\n");
			expect(decoding).toHaveBeenCalledTimes(2);
		} finally {
			decoding.mockRestore();
		}
		expect(bus.getMetrics().handlerInvocations).toEqual({ hot: 4, cold: 0, third: 1 });
	});

	it("onBytes with a window is refused: it would miss lines", () => {
		const handler = recordingHandler({ windowSize: 2, onBytes: () => true });
		expect(() => new ProcessOutputBus().register(handler)).toThrow(/onBytes/);
	});
});

describe("subscriptions", () => {
	it("get the types they asked for, all without, none for an empty list", () => {
		const bus = new ProcessOutputBus<TestEvent>();
		const seen: string[] = [];
		bus.subscribe((event) => seen.push(`all ${event.type}`));
		bus.subscribe(({ n }) => seen.push(`a ${n}`), { types: ["a"] });
		bus.subscribe(({ text }) => seen.push(`b ${text}`), { types: ["b"] });
		bus.subscribe(() => seen.push("none"), { types: [] });
		bus.emit({ type: "a", n: 1 });
		bus.emit({ type: "b", text: "x" });
		expect(seen).toEqual(["all a", "a 1", "all b", "b x"]);
	});

	it("tell whether a type is wanted", () => {
		const bus = new ProcessOutputBus<TestEvent>();
		expect(bus.wants("a")).toBe(false);
		const end = bus.subscribe(() => undefined, { types: ["a"] });
		expect([bus.wants("a"), bus.wants("b")]).toEqual([true, false]);
		end();
		expect(bus.wants("a")).toBe(false);
	});

	it("end at once, also during a dispatch; one added during a dispatch starts with the next event", () => {
		const bus = new ProcessOutputBus<TestEvent>();
		const seen: string[] = [];
		let endSecond = (): void => undefined;
		bus.subscribe((event) => {
			seen.push(`first ${event.type}`);
			endSecond();
			if (event.type === "a") bus.subscribe((later) => seen.push(`third ${later.type}`));
		});
		endSecond = bus.subscribe((event) => seen.push(`second ${event.type}`));
		bus.emit({ type: "a", n: 1 });
		bus.emit({ type: "b", text: "" });
		endSecond();
		expect(seen).toEqual(["first a", "first b", "third b"]);
	});

	it("made twice with one function are two, which end separately", () => {
		const bus = new ProcessOutputBus<TestEvent>();
		const listener = vi.fn();
		const lineListener = vi.fn();
		const end = bus.subscribe(listener);
		bus.subscribe(listener);
		const endLines = bus.subscribeLines(lineListener);
		bus.subscribeLines(lineListener);
		end();
		end();
		endLines();
		endLines();
		bus.emit({ type: "a", n: 1 });
		feed(bus, "x\n");
		expect(listener).toHaveBeenCalledTimes(1);
		expect(lineListener).toHaveBeenCalledTimes(1);
	});

	it("a line listener that removes itself does not make another miss the line", () => {
		const bus = new ProcessOutputBus();
		const end = bus.subscribeLines(() => end());
		const lines = recordLines(bus);
		feed(bus, "a\nb\n");
		expect(lines).toEqual(["a", "b"]);
	});
});

describe("errors reach no other", () => {
	it.each<[string, () => void]>([
		[
			"thrown",
			() => {
				throw new Error("broken");
			},
		],
		["rejected", async () => Promise.reject(new Error("broken"))],
	])("%s by handler, subscriber, line listener and dispose: counted, and the last one names who", async (_, fail) => {
		const bus = new ProcessOutputBus<TestEvent>();
		const seen: string[] = [];
		const steps: string[] = [];
		const step = async () => {
			await new Promise(setImmediate);
			const { lastError } = bus.getMetrics();
			steps.push(`${lastError?.who}: ${lastError?.message}`);
		};
		bus.register(recordingHandler({ name: "failing", onLine: fail, dispose: fail }));
		bus.register(recordingHandler({ name: "bytes", onLine: () => seen.push("handler") }));
		feed(bus, "x\n");
		await step();
		bus.subscribe(fail);
		bus.subscribe(() => seen.push("subscriber"));
		bus.emit({ type: "a", n: 1 });
		await step();
		bus.subscribeLines(fail);
		bus.subscribeLines(() => seen.push("listener"));
		feed(bus, "y\n");
		await step();
		bus.dispose();
		await step();
		expect(seen).toEqual(["handler", "subscriber", "handler", "listener"]);
		// In the third step handler and listener failed; the listener comes later.
		expect(steps).toEqual([
			"handler failing: broken",
			"subscriber of a: broken",
			"line listener: broken",
			"handler failing: broken",
		]);
		expect(bus.getMetrics()).toMatchObject({
			handlerErrors: { failing: 3 },
			subscriberErrors: 1,
			listenerErrors: 1,
			handlerInvocations: { failing: 2, bytes: 2 },
		});
	});

	it("thrown by onBytes: the other handlers see the line", () => {
		const bus = new ProcessOutputBus();
		const other = recordingHandler();
		bus.register(
			recordingHandler({
				name: "failing",
				onBytes: () => {
					throw "no error object";
				},
			}),
		);
		bus.register(other);
		feed(bus, "x\n");
		expect(other.windows).toEqual([["x"]]);
		expect(bus.getMetrics().lastError).toEqual({ who: "handler failing", message: "no error object" });
	});
});

describe("dispose", () => {
	it("disposes every handler once, ends all dispatch, and leaves the getters answering", () => {
		const bus = new ProcessOutputBus<TestEvent>();
		const dispose = vi.fn();
		const handler = recordingHandler({ dispose });
		bus.register(handler);
		const events = vi.fn();
		bus.subscribe(events);
		const lines = recordLines(bus);
		feed(bus, "a\nunfinished");
		const before = bus.getMetrics();
		bus.dispose();
		bus.dispose();
		feed(bus, "b\n");
		bus.end(OutputSources.stdout);
		bus.emit({ type: "a", n: 1 });
		bus.register(recordingHandler({ name: "late" }));
		bus.subscribe(events)();
		bus.subscribeLines(() => lines.push("late"))();
		expect(dispose).toHaveBeenCalledTimes(1);
		expect(events).not.toHaveBeenCalled();
		expect(lines).toEqual(["a"]);
		expect(handler.windows).toEqual([["a"]]);
		expect(bus.getHandler("recording")).toBe(handler);
		expect(bus.getHandlerNames()).toEqual(["recording"]);
		expect(bus.getMetrics()).toEqual(before);
	});

	it("in the middle of a chunk: nobody gets a line afterwards, not even the rest of this one", () => {
		const bus = new ProcessOutputBus();
		const later = recordingHandler({ name: "later" });
		bus.register(recordingHandler({ onLine: ([line]) => line === "b" && bus.dispose() }));
		bus.register(later);
		const lines = recordLines(bus);
		feed(bus, "a\nb\nc\n");
		expect(later.windows).toEqual([["a"]]);
		expect(lines).toEqual(["a"]);
	});
});

describe("metrics", () => {
	it("are a snapshot", () => {
		const bus = new ProcessOutputBus();
		bus.register(recordingHandler());
		feed(bus, "a\n");
		const snapshot = bus.getMetrics();
		const copy = structuredClone(snapshot);
		feed(bus, "b\n");
		bus.noteHandlerError("x", new Error("x"));
		expect(snapshot).toEqual(copy);
		expect(bus.getMetrics()).toMatchObject({
			bytes: 4,
			linesBySource: { stdout: 2 },
			handlerInvocations: { recording: 2 },
		});
	});
});

describe("OutputHandlerRegistry", () => {
	const context = { processLabel: "pi", runId: "r", emit: () => undefined, wants: () => false };

	it("makes handlers for a label in order of registration; undefined skips", () => {
		const registry = new OutputHandlerRegistry();
		const add = (
			name: string,
			processFilter: string[],
			create = (): OutputHandler | undefined => recordingHandler({ name }),
		) => registry.registerFactory({ name, processFilter, create });
		add("every", ["*"]);
		add("other", ["copilot"]);
		add("skipping", ["pi"], () => undefined);
		add("several", ["copilot", "pi"]);
		expect(registry.createHandlers(context).map(({ name }) => name)).toEqual(["every", "several"]);
		expect(registry.createHandlers({ ...context, processLabel: "git" }).map(({ name }) => name)).toEqual(["every"]);
		expect(registry.createHandlers({ ...context, processLabel: "*" }).map(({ name }) => name)).toEqual(["every"]);
	});

	it("hands the context over as it is", () => {
		const registry = new OutputHandlerRegistry();
		const create = vi.fn(() => undefined);
		registry.registerFactory({ name: "x", processFilter: ["*"], create });
		registry.createHandlers(context);
		expect(create).toHaveBeenCalledWith(context);
	});

	it("refuses a second factory of a name; counts one that throws and goes on", () => {
		const registry = new OutputHandlerRegistry();
		const failing = {
			name: "failing",
			processFilter: ["*"],
			create: () => {
				throw new Error("broken");
			},
		};
		registry.registerFactory(failing);
		expect(() => registry.registerFactory(failing)).toThrow(/failing.*already/);
		registry.registerFactory({ name: "next", processFilter: ["*"], create: () => recordingHandler({ name: "next" }) });
		const errors: string[] = [];
		const made = registry.createHandlers(context, (name, error) => errors.push(`${name}: ${error}`));
		expect(made.map(({ name }) => name)).toEqual(["next"]);
		expect(errors).toEqual(["failing: Error: broken"]);
		expect(registry.errors).toBe(1);
	});
});
