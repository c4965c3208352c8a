import { statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { LogFileTailer, OutputHandlerRegistry, OutputSources, ProcessOutputBus } from "../../src/process/index.ts";
import { recordingHandler } from "./bus-probe.ts";
import { startChild, temporaryDirectory } from "./started-child.ts";

describe("log sources of a managed process", () => {
	it("what was written right before the exit reaches the handlers before settled, and the metrics name the source", async () => {
		const path = join(temporaryDirectory(), "made", "x.log");
		const registry = new OutputHandlerRegistry();
		const handler = recordingHandler({ sources: [OutputSources.logFile("mine")] });
		registry.registerFactory({ name: "recording", processFilter: ["*"], create: () => handler });
		const logSources = [{ name: "mine", type: "file", path, pollIntervalMs: 600_000, watch: false } as const];
		const { managed } = startChild("log-then-exit.sh", { args: [path], logSources, registry });
		expect(managed.diagnostics().tailerMetrics).toMatchObject({ mine: { linesFed: 0 } });
		writeFileSync(`${path}.go`, "");
		await managed.settled;
		expect(handler.windows.flat()).toEqual([...Array.from({ length: 500 }, (_, i) => `line ${i}`), "torn"]);
		expect(managed.diagnostics()).toMatchObject({
			tailerMetrics: { mine: { linesFed: 501, currentFile: path } },
			busMetrics: { linesBySource: { "log-file:mine": 501 } },
		});
	});

	it("a limit of a log source holds for that source alone", async () => {
		const path = join(temporaryDirectory(), "x.log");
		const logSources = [{ name: "mine", type: "file", path, maxLineBytes: 4 } as const];
		const { managed, lines } = startChild("log-then-exit.sh", { args: [path], logSources, maxLineBytes: 1000 });
		writeFileSync(`${path}.go`, "");
		await managed.settled;
		expect(lines).toEqual(["torn"]);
		expect(managed.bus.getMetrics().overlong).toBe(500);
	});

	it("a child that wrote its log before the tailer started is read from the beginning, an older log from its end", async () => {
		const folder = temporaryDirectory();
		const old = join(folder, "old.log");
		writeFileSync(old, "from before\n");
		// Older than the spawn by more than the clock of a file system may lag.
		await expect.poll(() => Date.now() - statSync(old).birthtimeMs).toBeGreaterThan(50);
		for (let round = 0; round < 5; round++) {
			const path = join(folder, `${round}.log`);
			writeFileSync(`${path}.go`, "");
			const logSources = [
				{ name: "new", type: "file", path },
				{ name: "old", type: "file", path: old },
			] as const;
			const { managed } = startChild("log-then-exit.sh", { args: [path], logSources });
			await managed.settled;
			expect(managed.bus.getMetrics().linesBySource["log-file:new"]).toBe(501);
			expect(managed.bus.getMetrics().linesBySource["log-file:old"]).toBeUndefined();
		}
	});

	it("a file born before start() but after the given time counts as new", async () => {
		const path = join(temporaryDirectory(), "x.log");
		const since = Date.now() - 20;
		writeFileSync(path, "early\n");
		const bus = new ProcessOutputBus();
		const lines: string[] = [];
		bus.subscribeLines((line) => lines.push(line));
		const tailer = new LogFileTailer({ name: "x", type: "file", path }, bus, { since });
		tailer.start();
		await tailer.stop();
		expect(lines).toEqual(["early"]);
	});
});
