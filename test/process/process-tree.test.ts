import { describe, expect, it } from "vitest";
import type { ProcessEntry } from "../../src/process/process-table.ts";
import { descendantsOf } from "../../src/process/process-tree.ts";

const entry = (pid: number, ppid: number): ProcessEntry => ({ pid, ppid, pgid: pid, startTime: "1", zombie: false });
const pids = (entries: readonly ProcessEntry[]): number[] => entries.map(({ pid }) => pid);

describe("descendantsOf", () => {
	it("finds all below the roots, parents first, without the roots", () => {
		const entries = [entry(40, 30), entry(30, 20), entry(20, 10), entry(10, 1), entry(21, 10), entry(99, 1)];
		expect(pids(descendantsOf(entries, [10]))).toEqual([20, 21, 30, 40]);
		expect(pids(descendantsOf(entries, [10, 20]))).toEqual([21, 30, 40]);
	});

	it("finds children of a root that is gone from the table", () => {
		expect(pids(descendantsOf([entry(20, 10)], [10]))).toEqual([20]);
	});

	it("ends on a cycle", () => {
		expect(pids(descendantsOf([entry(20, 30), entry(30, 20), entry(40, 40)], [20, 40]))).toEqual([30]);
	});

	it("never takes everything: 0 and 1 are no roots", () => {
		expect(descendantsOf([entry(1, 0), entry(20, 1), entry(30, 0)], [0, 1, -1])).toEqual([]);
	});

	it("leaves out this process and what is only below it", () => {
		const entries = [entry(process.pid, 20), entry(process.pid + 1, process.pid), entry(1, 20)];
		expect(descendantsOf(entries, [20])).toEqual([]);
		expect(pids(descendantsOf(entries, [process.pid]))).toEqual([process.pid + 1]);
	});

	it("walks a chain of 50,000 without recursion", () => {
		const chain = Array.from({ length: 50_000 }, (_, i) => entry(1_000_000_001 + i, 1_000_000_000 + i));
		expect(descendantsOf(chain, [1_000_000_000])).toHaveLength(50_000);
	});
});
