import type { ChildProcess } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, readlinkSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, describe, expect, it } from "vitest";
import { Guardian } from "../../src/process/guardian.ts";
import { createProcessTable } from "../../src/process/process-table.ts";
import type { ParentPlan, ParentReport } from "../support/guardian-parent.ts";
import { endAfterTest, lives, marked, newMarker, start, until } from "../support/guardian-support.ts";

const table = createProcessTable();
const linux = process.platform === "linux";
/** Ignores TERM, and has a grandchild that ignores it in a session of its own. */
const STUBBORN = "trap '' TERM; setsid sh -c 'while :; do sleep 1; done' & while :; do sleep 1; done";
const OBEDIENT = "exec sleep 60";
/** KILL comes 1.5 s after the end of the parent; the rest is for looking at processes on a loaded machine. */
const GONE_MS = 3000;

/** Starts the fixture and gives its report, with everything it started registered to be ended after the test. */
async function startParent(
	plan: ParentPlan,
): Promise<{ parent: ChildProcess; exited: Promise<number | null> } & ParentReport> {
	const file = fileURLToPath(new URL("../support/guardian-parent.ts", import.meta.url));
	const { child: parent } = await start(process.execPath, [file, JSON.stringify(plan)], {
		stdio: ["ignore", "pipe", "inherit"],
	});
	const exited = new Promise<number | null>((resolve) => parent.once("exit", resolve));
	let text = "";
	parent.stdout?.on("data", (chunk: Buffer) => {
		text += chunk;
	});
	await until("the report of the parent", () => text.includes("\n"));
	return { parent, exited, ...(JSON.parse(text) as ParentReport) };
}

async function untilGone(what: string, pids: readonly number[], deadlineMs = GONE_MS): Promise<void> {
	await until(`${what} gone`, async () => !(await Promise.all(pids.map(lives))).includes(true), deadlineMs);
}

describe.runIf(linux)("the guardian, when its parent", () => {
	it("A2, A3: is killed, ends the child, a grandchild in its own session and a daemon", async () => {
		const marker = newMarker();
		const daemonise = `(setsid sh -c "trap '' TERM; sleep 60; sleep 60" &) ; ${STUBBORN}`;
		const { parent, guardian, children } = await startParent({
			children: [{ script: daemonise, register: true }],
			marker,
			finally: "wait",
		});
		let family: readonly number[] = [];
		await until("child, grandchild and daemon, each with a sleep", async () => {
			family = (await table.carriers(marker)).filter((pid) => pid !== parent.pid);
			return family.length === 6;
		});
		await Promise.all(family.map(endAfterTest));
		expect(family).toContain(children[0]);
		parent.kill("SIGKILL");
		await until("all carriers gone", async () => (await table.carriers(marker)).length === 0, GONE_MS);
		await untilGone("family and guardian", [...family, guardian]);
	});

	it("is killed, ends an obedient child at once", async () => {
		const { parent, guardian, children } = await startParent({
			children: [{ script: OBEDIENT, register: true }],
			marker: newMarker(),
			finally: "wait",
		});
		parent.kill("SIGKILL");
		await untilGone("child", children, 1000);
		await untilGone("guardian", [guardian], 1000);
	});

	it.each(["exit", "return"] as const)(
		"ends by itself (%s), was not held by it and takes the child along",
		async (end) => {
			const { exited, guardian, children } = await startParent({
				children: [{ script: OBEDIENT, register: true }],
				marker: newMarker(),
				finally: end,
			});
			expect(await exited).toBe(0);
			await untilGone("child and guardian", [...children, guardian]);
		},
	);

	it("is killed, leaves alone what was not registered, although it was started after the guardian", async () => {
		const marker = newMarker();
		const { parent, guardian, children } = await startParent({
			children: [
				{ script: OBEDIENT, register: true },
				{ script: `unset ${marker.name}; exec sleep 60`, register: false },
			],
			marker,
			finally: "wait",
		});
		const [registered = 0, other = 0] = children;
		await endAfterTest(other);
		parent.kill("SIGKILL");
		await untilGone("registered child and guardian", [registered, guardian]);
		expect(await lives(other)).toBe(true);
	});
});

describe.runIf(linux)("the guardian", () => {
	const guardians: Guardian[] = [];
	afterEach(async () => {
		for (const guardian of guardians.splice(0)) guardian.dispose();
	});
	function newGuardian(graceMs = 300): Guardian {
		const guardian = new Guardian({ graceMs });
		guardians.push(guardian);
		return guardian;
	}
	const pidOf = (guardian: Guardian): number => {
		if (guardian.pid === undefined) throw new Error("no guardian process");
		return guardian.pid;
	};

	it("starts with the first child and leaves no process", async () => {
		const guardian = newGuardian();
		expect(guardian.supported).toBe(true);
		expect(guardian.pid).toBeUndefined();
		const { pid } = await start("sleep", ["60"], { detached: true });
		const unregister = guardian.register({ pid });
		const own = pidOf(guardian);
		unregister();
		unregister();
		expect(guardian.pid).toBe(own);
		guardian.dispose();
		guardian.dispose();
		await untilGone("guardian", [own]);
		expect(await lives(pid)).toBe(true);
		expect(guardian.diagnostics).toEqual({ errors: 0, lastError: undefined });
	});

	it("is one process for all children, in a session of its own, and holds nothing of this process", async () => {
		const guardian = newGuardian();
		const children = await Promise.all([1, 2, 3].map(() => start("sleep", ["60"], { detached: true })));
		for (const { pid } of children) guardian.register({ pid });
		const own = pidOf(guardian);
		expect(await table.find(own)).toMatchObject({ ppid: process.pid, pgid: own });
		// What this process inherited beyond descriptor 16 Node leaves open to every child: no more than a `sleep` has.
		const descriptors = (pid: number): string[] =>
			readdirSync(`/proc/${pid}/fd`).map((fd) => `${fd} ${readlinkSync(`/proc/${pid}/fd/${fd}`)}`);
		const ofSleep = descriptors(children[0]?.pid ?? 0).filter((line) => line !== "0 /dev/null");
		expect(descriptors(own)).toEqual([expect.stringMatching(/^0 socket:/), ...ofSleep]);
		expect(ofSleep).toEqual(expect.arrayContaining(["1 /dev/null", "2 /dev/null"]));
		expect(readlinkSync(`/proc/${own}/cwd`)).toBe("/");
		guardian.dispose();
		await untilGone("children and guardian", [...children.map(({ pid }) => pid), own]);
	});

	it("ignores what a terminal sends", async () => {
		const guardian = newGuardian();
		const { pid } = await start("sleep", ["60"], { detached: true });
		guardian.register({ pid });
		const own = pidOf(guardian);
		const ignored = (): bigint =>
			BigInt(`0x${/SigIgn:\s*(\w+)/.exec(readFileSync(`/proc/${own}/status`, "utf8"))?.[1]}`);
		// HUP 1, INT 2, QUIT 3, TERM 15: bit n-1 each.
		await until("the traps are set", () => (ignored() & 0x4007n) === 0x4007n);
		for (const signal of ["SIGHUP", "SIGINT", "SIGQUIT", "SIGTERM"] as const) process.kill(own, signal);
		guardian.dispose();
		await untilGone("child and guardian", [pid, own]);
	});

	it("sends TERM once to each process: pi takes a second one as an order to drop everything", async () => {
		const directory = mkdtempSync(join(tmpdir(), "guardian-"));
		try {
			const file = join(directory, "signals");
			const code = `
				const note = (text) => require("node:fs").appendFileSync(${JSON.stringify(file)}, text);
				process.on("SIGTERM", () => note("T"));
				note("r");
				setInterval(() => {}, 1000);`;
			const marker = newMarker();
			const { pid } = await start(process.execPath, ["-e", code], { detached: true, env: marked(marker) });
			const guardian = newGuardian();
			guardian.register({ pid, marker });
			await until("the child is ready", () => readdirSync(directory).length > 0);
			guardian.dispose();
			await untilGone("child", [pid]);
			expect(readFileSync(file, "utf8")).toBe("rT");
		} finally {
			rmSync(directory, { recursive: true });
		}
	});

	it("ends the group of a child that is gone", async () => {
		const guardian = newGuardian();
		const script = "(trap '' TERM; while :; do sleep 1; done) & read -r line";
		const { child, pid } = await start("sh", ["-c", script], { detached: true, stdio: ["pipe", "ignore", "ignore"] });
		guardian.register({ pid });
		let member = 0;
		await until("a member of its group", async () => {
			member = (await table.list()).find((entry) => entry.ppid === pid)?.pid ?? 0;
			return member !== 0;
		});
		await endAfterTest(member);
		child.stdin?.end();
		await untilGone("child", [pid]);
		expect(await lives(member)).toBe(true);
		guardian.dispose();
		await untilGone("member", [member]);
	});

	it("ends what a child starts in answer to TERM", async () => {
		const marker = newMarker();
		const script = "trap 'setsid sleep 60 & sleep 60' TERM; echo ready; while :; do sleep 0.1; done";
		const { child, pid } = await start("sh", ["-c", script], {
			detached: true,
			stdio: ["ignore", "pipe", "ignore"],
			env: marked(marker),
		});
		await new Promise((resolve) => child.stdout?.once("data", resolve));
		const guardian = newGuardian(600);
		// Without the marker: the guardian has to see it come.
		guardian.register({ pid });
		guardian.dispose();
		await until("its answer", async () => (await table.carriers(marker)).length >= 2);
		await until("all gone", async () => (await table.carriers(marker)).length === 0, GONE_MS);
	});

	it("is replaced when it is killed, and its successor knows all children", async () => {
		const guardian = newGuardian();
		const first = await start("sleep", ["60"], { detached: true });
		const second = await start("sleep", ["60"], { detached: true });
		const kept = await start("sleep", ["60"], { detached: true });
		guardian.register({ pid: first.pid });
		guardian.register({ pid: kept.pid })();
		const before = pidOf(guardian);
		process.kill(before, "SIGKILL");
		await until("a successor", () => guardian.pid !== undefined && guardian.pid !== before);
		expect(guardian.diagnostics).toEqual({ errors: 1, lastError: "the guardian ended (SIGKILL)" });
		guardian.register({ pid: second.pid });
		guardian.dispose();
		await untilGone("both children", [first.pid, second.pid]);
		expect(await lives(kept.pid)).toBe(true);
	});

	it("is not replaced for ever, but by the next child", async () => {
		const guardian = newGuardian();
		const { pid } = await start("sleep", ["60"], { detached: true });
		guardian.register({ pid });
		for (let deaths = 1; deaths <= 4; deaths++) {
			process.kill(pidOf(guardian), "SIGKILL");
			await until("its death is known", () => guardian.diagnostics.errors >= deaths);
		}
		expect(guardian.pid).toBeUndefined();
		const other = await start("sleep", ["60"], { detached: true });
		guardian.register({ pid: other.pid });
		guardian.dispose();
		await untilGone("both children", [pid, other.pid]);
	});

	it("counts a write to a guardian that died just now", async () => {
		const guardian = newGuardian();
		const { pid } = await start("sleep", ["60"], { detached: true });
		const unregister = guardian.register({ pid });
		const own = pidOf(guardian);
		process.kill(own, "SIGKILL");
		const end = performance.now() + 5000;
		// Without a turn of the event loop, so that its death is not known here before the write.
		while (!/\) [ZX] /.test(readFileSync(`/proc/${own}/stat`, "latin1")) && performance.now() < end);
		unregister();
		await until("both are counted", () => guardian.diagnostics.errors === 2);
		expect(guardian.pid).toBeUndefined();
	});

	it("counts what it cannot guard, and guards without a marker that it cannot pass on", async () => {
		const guardian = newGuardian();
		for (const pid of [process.pid, 1, 0, -1, Number.NaN]) guardian.register({ pid })();
		expect(guardian.diagnostics.errors).toBe(5);
		guardian.register({ pid: 2 ** 30 });
		expect(guardian.diagnostics.lastError).toBe(`pid ${2 ** 30} is not in the process table`);
		expect(guardian.pid).toBeUndefined();
		const { pid } = await start("sleep", ["60"], { detached: true });
		guardian.register({ pid, marker: { name: "A", value: "two\nlines" } });
		expect(guardian.diagnostics).toEqual({ errors: 7, lastError: 'marker "A=two\\nlines" cannot be passed on' });
		guardian.dispose();
		await untilGone("child", [pid]);
		guardian.register({ pid: process.ppid })();
		expect(guardian.diagnostics.lastError).toBe("registered after dispose()");
	});
});

describe("the guardian on Windows", () => {
	it("is not supported and does nothing", async () => {
		const guardian = new Guardian({ platform: "win32" });
		expect(guardian.supported).toBe(false);
		guardian.register({ pid: process.ppid })();
		expect(guardian.pid).toBeUndefined();
		guardian.dispose();
	});
});
