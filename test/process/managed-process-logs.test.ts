import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { OutputHandlerRegistry, OutputSources } from "../../src/process/index.ts";
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
});
