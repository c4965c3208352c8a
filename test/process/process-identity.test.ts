import { describe, expect, it } from "vitest";
import { identify, isSameProcess, isSignallable, signalIfSame } from "../../src/process/process-identity.ts";
import { createProcessTable, type ProcessTable } from "../../src/process/process-table.ts";
import { lives, start, until } from "../support/guardian-support.ts";

const table = createProcessTable();

describe("process identity", () => {
	it("is that of this process, which is never signalled", async () => {
		const identity = await identify(process.pid, table);
		if (identity === undefined) throw new Error("this process has no identity");
		expect(await isSameProcess(identity, table)).toBe(true);
		expect(await signalIfSame(identity, "SIGKILL", table)).toBe(false);
	});

	it("is undefined for no process", async () => {
		for (const pid of [2 ** 30, 0, -1, 1.5, Number.NaN]) expect(await identify(pid, table)).toBeUndefined();
	});

	it("signals the same process", async () => {
		const { child, pid } = await start("sleep", ["60"]);
		const identity = await identify(pid, table);
		if (identity === undefined) throw new Error("no identity");
		const ended = new Promise((resolve) => child.once("exit", (_code, signal) => resolve(signal)));
		expect(await signalIfSame(identity, "SIGTERM", table)).toBe(true);
		expect(await ended).toBe("SIGTERM");
		expect(await isSameProcess(identity, table)).toBe(false);
		expect(await signalIfSame(identity, "SIGTERM", table)).toBe(false);
	});

	it("A15: a reused pid, with another start time or after another boot, is never signalled", async () => {
		const { child, pid } = await start("sleep", ["60"]);
		const identity = await identify(pid, table);
		if (identity === undefined) throw new Error("no identity");
		for (const other of [
			{ ...identity, startTime: `${identity.startTime}0` },
			{ ...identity, bootId: "another boot" },
			{ ...identity, bootId: "" },
		]) {
			expect(await isSameProcess(other, table)).toBe(false);
			expect(await signalIfSame(other, "SIGKILL", table)).toBe(false);
		}
		expect(await lives(pid)).toBe(true);
		expect(child.signalCode).toBeNull();
	});

	it("an unknown boot id is nobody's", async () => {
		const withoutBootId: ProcessTable = { ...table, bootId: async () => "", lastError: "unreadable" };
		expect(await identify(process.pid, withoutBootId)).toBeUndefined();
		const forged = { pid: process.pid, startTime: (await table.find(process.pid))?.startTime ?? "", bootId: "" };
		expect(await isSameProcess(forged, withoutBootId)).toBe(false);
	});

	it.runIf(process.platform === "linux")("A15: a zombie is dead", async () => {
		// The shell becomes a `sleep` that never collects the child it inherits from itself.
		const { pid } = await start("sh", ["-c", "sleep 0 & exec sleep 60"]);
		let zombie = 0;
		await until("a zombie", async () => {
			const child = (await table.list()).find((entry) => entry.ppid === pid && entry.zombie);
			zombie = child?.pid ?? 0;
			return child !== undefined;
		});
		expect(await identify(zombie, table)).toBeUndefined();
		const startTime = (await table.find(zombie))?.startTime ?? "";
		expect(await isSameProcess({ pid: zombie, startTime, bootId: await table.bootId() }, table)).toBe(false);
	});
});

describe("isSignallable", () => {
	it("refuses this process, init, groups and what is no pid", () => {
		for (const pid of [process.pid, 1, 0, -1, -process.pid, 2.5, Number.NaN, Number.POSITIVE_INFINITY]) {
			expect(isSignallable(pid)).toBe(false);
		}
		expect(isSignallable(process.ppid)).toBe(true);
	});
});
