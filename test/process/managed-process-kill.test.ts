import { describe, expect, it } from "vitest";
import { isAlive, startChild } from "./started-child.ts";

describe("kill", () => {
	it("sends TERM by default and records no reason", async () => {
		const { managed, said, lifecycle } = startChild("exit-zero-on-term.mjs");
		await said("ready");
		expect(managed.killed).toBe(false);
		expect(managed.kill()).toBe(true);
		expect(managed.killed).toBe(true);
		expect(await managed.settled).toMatchObject({ code: 0, signal: null, stopReason: undefined, forcedExit: true });
		expect(managed.timestamps.killed).toBeUndefined();
		expect(lifecycle.map(({ type }) => type)).not.toContain("hard_kill");
	});

	it("TERM becomes KILL after 5 s", async () => {
		const { managed, said, lifecycle } = startChild("ignore-term.sh");
		await said("ready");
		managed.kill();
		managed.kill();
		expect(await managed.settled).toMatchObject({ code: null, signal: "SIGKILL", forcedExit: true });
		const { killRequested = 0, killed = 0 } = managed.timestamps;
		expect(killed - killRequested).toBeGreaterThanOrEqual(4999);
		expect(killed - killRequested).toBeLessThan(9000);
		expect(lifecycle.filter(({ type }) => type === "hard_kill")).toHaveLength(1);
		expect(lifecycle.at(-1)?.error).toBeUndefined();
	});

	it("reaches the whole group", async () => {
		const { managed, saidPid } = startChild("same-group-child.sh");
		const member = await saidPid("member");
		managed.kill("SIGKILL");
		await managed.settled;
		expect(isAlive(member)).toBe(false);
	});

	it("signal 0 is a probe: it changes and schedules nothing", async () => {
		const { managed, said, pid } = startChild("wait-forever.sh");
		await said("ready");
		const timers = process.getActiveResourcesInfo().filter((name) => name === "Timeout").length;
		expect(managed.kill(0)).toBe(true);
		expect(process.getActiveResourcesInfo().filter((name) => name === "Timeout")).toHaveLength(timers);
		expect(managed.killed).toBe(false);
		expect(managed.timestamps.killRequested).toBeUndefined();
		process.kill(pid, "SIGKILL");
		// Somebody else ended it: this is no end of ours.
		expect(await managed.settled).toMatchObject({ signal: "SIGKILL", forcedExit: false });
		expect(managed.kill(0)).toBe(false);
	});

	it("after the exit does nothing and says so", async () => {
		const { managed } = startChild("exit-code.sh", { args: ["0"] });
		await managed.settled;
		for (const signal of ["SIGTERM", "SIGKILL", 0] as const) expect(managed.kill(signal)).toBe(false);
		expect(managed.killed).toBe(false);
		expect(managed.diagnostics().timestamps.killRequested).toBeUndefined();
	});

	it("in the tick of the spawn works", async () => {
		const { managed } = startChild("wait-forever.sh");
		managed.kill();
		expect(await managed.settled).toMatchObject({ code: null, signal: "SIGTERM" });
	});
});
