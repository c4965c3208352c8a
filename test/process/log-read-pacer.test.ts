import { describe, expect, it } from "vitest";
import { LogReadPacer } from "../../src/process/log-read-pacer.ts";

describe("LogReadPacer", () => {
	it("lets reads that take little time begin at once", () => {
		const pacer = new LogReadPacer(50);
		for (let now = 1000; now < 3000; now += 2) {
			expect(pacer.delay(now)).toBe(0);
			pacer.spent(now, now + 0.5);
		}
	});

	it("makes a read wait until a debounce has passed since the last one began, once reads take much time", () => {
		const pacer = new LogReadPacer(50);
		pacer.spent(1000, 1045);
		pacer.spent(1045, 1085);
		expect(pacer.delay(1085)).toBe(10);
		expect(pacer.delay(1095)).toBe(0);
	});

	it("keeps reads to about half of the time under notices without end", () => {
		const pacer = new LogReadPacer(50);
		let reading = 0;
		for (let now = 1000; now < 11_000; ) {
			now += pacer.delay(now);
			pacer.spent(now, now + 5);
			now += 5;
			reading += 5;
		}
		expect(reading).toBeLessThan(6000);
		expect(reading).toBeGreaterThan(3000);
	});

	it("never delays by more than a debounce, and forgets a long read after two of them", () => {
		const pacer = new LogReadPacer(50);
		pacer.spent(1000, 61_000);
		expect(pacer.delay(61_000)).toBe(0);
		pacer.spent(61_000, 61_001);
		expect(pacer.delay(61_001)).toBeLessThanOrEqual(50);
		expect(pacer.delay(61_110)).toBe(0);
		pacer.spent(61_110, 61_111);
		expect(pacer.delay(61_111)).toBe(0);
	});

	it("does not delay at all without a debounce", () => {
		const pacer = new LogReadPacer(0);
		pacer.spent(1000, 2000);
		expect(pacer.delay(2000)).toBe(0);
	});
});
