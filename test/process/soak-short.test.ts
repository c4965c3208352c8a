import { expect, it } from "vitest";
import { runSoak } from "./soak-run.ts";

it("100 short children of random kinds, 16 at a time: each settles as it should and nothing is left", async () => {
	const report = await runSoak({ children: 100, width: 16, seed: 20_260_101, deadlineMs: 60_000 });
	console.log(JSON.stringify(report));
	expect(report.faults).toEqual([]);
	expect(report.descendants).toEqual([]);
	expect(report.more).toEqual([]);
	expect(report.heapGrowthMb).toBeLessThan(16);
	expect(report.children).toBe(100);
	// All kinds took part: else the run says little.
	expect(Object.keys(report.byKind)).toHaveLength(12);
	expect(report.lines).toBeGreaterThan(10_000);
}, 120_000);
