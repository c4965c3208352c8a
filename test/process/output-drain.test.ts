import { describe, expect, it } from "vitest";
import { busyFor, isAlive, startChild } from "./started-child.ts";

/** What the machine may add to a time limit. */
const MARGIN_MS = 4000;

function numbered(lines: readonly string[]): number[] {
	return lines.map(Number);
}

describe("output around the exit", () => {
	it("A10, invariant 5: what was written right before the exit is read before settled", async () => {
		const { managed, lines } = startChild("burst-then-exit.mjs", { args: ["200000"] });
		expect(await managed.settled).toMatchObject({ code: 0, streams: "closed", forcedExit: false });
		expect(numbered(lines)).toEqual(Array.from({ length: 2000 }, (_, i) => i));
	});

	it("A10: a program that is busy for a second right after the exit loses nothing", async () => {
		const { managed, lines } = startChild("burst-then-exit.mjs", {
			args: ["1000000"],
			drain: { idleMs: 50, capMs: 100 },
		});
		managed.on("exit", () => busyFor(1000));
		expect(await managed.settled).toMatchObject({ code: 0, streams: "closed", forcedExit: false });
		expect(numbered(lines)).toEqual(Array.from({ length: 10_000 }, (_, i) => i));
	});

	it("A10: time limits that pass while the program is busy give nothing up that is already there", async () => {
		const { managed, lines } = startChild("drip-and-end.sh", { args: ["3"], drain: { idleMs: 50, capMs: 100 } });
		// Both limits are armed by then, and over when the loop turns again; the grandchild has ended meanwhile.
		managed.on("exit", () => setImmediate(() => busyFor(1500)));
		expect(await managed.settled).toMatchObject({ code: 0, streams: "closed", forcedExit: false });
		expect(lines).toEqual(["drip 0", "drip 1", "drip 2"]);
	});

	it("A10: an end without output that comes while the program is busy counts as one", async () => {
		const { managed } = startChild("hold-stdout.sh", { args: ["0.3"], drain: { idleMs: 50, capMs: 100 } });
		managed.on("exit", () => setImmediate(() => busyFor(1500)));
		expect(await managed.settled).toMatchObject({ code: 0, streams: "closed", forcedExit: false });
	});

	it("A24, invariant 4: 18 MB nobody listens to are drained", async () => {
		const { managed } = startChild("flood.sh", { args: ["1000000"] });
		expect(await managed.settled).toMatchObject({ code: 0, streams: "closed" });
		expect(managed.bus.getMetrics()).toMatchObject({ bytes: 18_000_000, linesBySource: { stdout: 1_000_000 } });
	});
});

describe("a pipe held by a grandchild", () => {
	it("A5: settles after the exit and an idle grace, our end destroyed, the holder named", async () => {
		const { managed, saidPid } = startChild("hold-stdout.sh", { args: ["1000"], drain: { idleMs: 300 } });
		const holder = await saidPid("holder");
		const outcome = await managed.settled;
		const exited = managed.timestamps.exited ?? Number.NaN;
		const waited = performance.now() - exited;
		expect(outcome).toMatchObject({ code: 0, signal: null, streams: "held", leftovers: [holder] });
		expect(waited).toBeGreaterThanOrEqual(299);
		expect(waited).toBeLessThan(300 + MARGIN_MS);
		expect(isAlive(holder)).toBe(true);
	});

	it("A5: 500 ms are the default", async () => {
		const { managed, saidPid } = startChild("hold-stdout.sh", { args: ["1000"] });
		await saidPid("holder");
		expect((await managed.settled).streams).toBe("held");
		const waited = performance.now() - (managed.timestamps.exited ?? Number.NaN);
		expect(waited).toBeGreaterThanOrEqual(499);
		expect(waited).toBeLessThan(500 + MARGIN_MS);
	});

	it("A5: the grace begins anew with every output", async () => {
		// Each gap of 200 ms is within the grace of 1 s, all together are not.
		const { managed, lines, saidPid } = startChild("drip-after-exit.sh", {
			args: ["8"],
			drain: { idleMs: 1000, capMs: 60_000 },
		});
		await saidPid("holder");
		expect((await managed.settled).streams).toBe("held");
		expect(lines.filter((line) => line.startsWith("drip"))).toHaveLength(8);
		expect(performance.now() - (managed.timestamps.exited ?? Number.NaN)).toBeGreaterThan(2000);
	});

	it("A5: the cap ends it although output still comes", async () => {
		const { managed, lines, saidPid } = startChild("drip-after-exit.sh", {
			args: ["1000"],
			drain: { idleMs: 60_000, capMs: 700 },
		});
		await saidPid("holder");
		expect((await managed.settled).streams).toBe("held");
		const waited = performance.now() - (managed.timestamps.exited ?? Number.NaN);
		expect(waited).toBeGreaterThanOrEqual(699);
		expect(waited).toBeLessThan(700 + MARGIN_MS);
		expect(lines.length).toBeGreaterThan(1);
	});

	it("A5: a holder that ends within the grace leaves an ordinary end", async () => {
		const { managed } = startChild("hold-stdout.sh", { args: ["0.2"], drain: { idleMs: 20_000, capMs: 30_000 } });
		expect(await managed.settled).toMatchObject({ streams: "closed", forcedExit: false, leftovers: [] });
	});

	it("a final_drain is told between exit and close", async () => {
		const { managed, lifecycle, saidPid } = startChild("hold-stdout.sh", { args: ["1000"], drain: { idleMs: 50 } });
		await saidPid("holder");
		await managed.settled;
		expect(lifecycle.map(({ type }) => type)).toEqual(["spawned", "exit", "final_drain", "close"]);
	});
});
