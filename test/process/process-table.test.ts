import { spawnSync } from "node:child_process";
import { copyFileSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { createProcessTable } from "../../src/process/process-table.ts";
import { environHolds, parseLinuxStat } from "../../src/process/process-table-linux.ts";
import { parseMacosCarriers, parseMacosProcesses } from "../../src/process/process-table-macos.ts";
import { parseWindowsProcesses } from "../../src/process/process-table-windows.ts";
import { descendantsOf } from "../../src/process/process-tree.ts";
import { endAfterTest, marked, newMarker, start, until } from "../support/guardian-support.ts";

const recorded = (name: string): string =>
	readFileSync(new URL(`../fixtures/process-table/${name}`, import.meta.url), "utf8");
const processes = recorded("macos-processes.txt");
const marker = { name: "PI_FLIGHTDECK_RUN", value: "r-17" };

describe("parseLinuxStat", () => {
	const numbers = "1200 1200 0 -1 4194560 150 0 0 0 1 2 0 0 20 0 1 0 8815522 2605056 200 18446744073709551615 1 2 3";

	it.each(["sleep", "a) (b", "x) Z 1 1 (", "two\nlines) S 1", "((", "tail) "])("reads after the name %j", (name) => {
		expect(parseLinuxStat(`4711 (${name}) S 1200 ${numbers}\n`)).toEqual({
			pid: 4711,
			ppid: 1200,
			pgid: 1200,
			startTime: "8815522",
			zombie: false,
		});
	});

	it("tells the dead by their state", () => {
		for (const state of ["Z", "X", "x"]) expect(parseLinuxStat(`5 (a) ${state} 1 ${numbers}`)?.zombie).toBe(true);
		for (const state of ["R", "T", "D"]) expect(parseLinuxStat(`5 (a) ${state} 1 ${numbers}`)?.zombie).toBe(false);
	});

	it("is undefined for what is no stat", () => {
		for (const text of ["", "\n", "5 (a", "5 (a) S 1 2", "x (a) S 1"]) expect(parseLinuxStat(text)).toBeUndefined();
	});
});

describe("environHolds", () => {
	it("matches whole entries only", () => {
		const holds = (text: string): boolean => environHolds(Buffer.from(text), { name: "A", value: "1" });
		expect(holds("A=1\0B=2\0")).toBe(true);
		expect(holds("B=2\0A=1\0")).toBe(true);
		expect(holds("B=2\0A=1")).toBe(true);
		expect(holds("AA=1\0A=1\0")).toBe(true);
		expect(holds("A=12\0XA=1\0B=A=1\0C=x A=1\0D=\nA=1\n\0")).toBe(false);
		expect(holds("")).toBe(false);
	});
});

describe.runIf(process.platform === "linux")("the process table of Linux", () => {
	const table = createProcessTable();

	it("lists this process, and finds it alone", async () => {
		const mine = (await table.list()).find((entry) => entry.pid === process.pid);
		expect(mine).toMatchObject({ ppid: process.ppid, zombie: false });
		expect(await table.find(process.pid)).toEqual(mine);
		expect(table.lastError).toBeUndefined();
	});

	it("finds no process under a number that is none", async () => {
		for (const pid of [2 ** 30, 0, -1, 1.5, Number.NaN]) expect(await table.find(pid)).toBeUndefined();
	});

	it.each(["a) (b", "x) Z 1\n(y"])("reads a process named %j", async (name) => {
		const directory = mkdtempSync(join(tmpdir(), "process-table-"));
		try {
			const file = join(directory, name);
			copyFileSync("/bin/sleep", file);
			const { pid } = await start(file, ["60"], { detached: true });
			expect(readFileSync(`/proc/${pid}/comm`, "utf8")).toBe(`${name}\n`);
			expect(await table.find(pid)).toMatchObject({ ppid: process.pid, pgid: pid, zombie: false });
			expect((await table.list()).map((entry) => entry.pid)).toContain(pid);
		} finally {
			rmSync(directory, { recursive: true });
		}
	});

	it("shows a zombie as one", async () => {
		const { pid } = await start("sh", ["-c", "sleep 0 & exec sleep 60"]);
		await until("a zombie", async () => descendantsOf(await table.list(), [pid]).some((entry) => entry.zombie));
	});

	it("A3: a daemon that no parent and no group leads to is found by its marker", async () => {
		const mark = newMarker();
		const { child, pid } = await start("sh", ["-c", "setsid sleep 60 & exec sleep 60"], { env: marked(mark) });
		let daemon = 0;
		await until("a carrier in a group of its own", async () => {
			const carriers = await table.carriers(mark);
			daemon = carriers.find((carrier) => carrier !== pid) ?? 0;
			return (await table.find(daemon))?.pgid === daemon;
		});
		await endAfterTest(daemon);
		expect(descendantsOf(await table.list(), [pid]).map((entry) => entry.pid)).toEqual([daemon]);

		child.kill("SIGKILL");
		await until("the daemon is an orphan", async () => (await table.find(daemon))?.ppid !== pid);
		expect(descendantsOf(await table.list(), [pid])).toEqual([]);
		expect(await table.carriers(mark)).toEqual([daemon]);
		expect(await table.carriers({ ...mark, value: mark.value.slice(1) })).toEqual([]);
		expect(await table.carriers({ ...mark, value: mark.value.slice(0, -1) })).toEqual([]);
	});

	it("never names this process as a carrier", () => {
		const mark = newMarker();
		const module = new URL("../../src/process/process-table.ts", import.meta.url);
		const code = `
			import { createProcessTable } from ${JSON.stringify(module.href)};
			console.log(JSON.stringify(await createProcessTable().carriers(${JSON.stringify(mark)})));`;
		const args = ["--input-type=module", "-e", code];
		expect(spawnSync(process.execPath, args, { env: marked(mark), encoding: "utf8" }).stdout).toBe("[]\n");
	});

	it("gives the boot id", async () => {
		expect(await table.bootId()).toMatch(/^[0-9a-f-]{36}$/);
		expect(await createProcessTable().bootId()).toBe(await table.bootId());
	});

	it("is empty, and says why, when /proc cannot be read", async () => {
		const none = createProcessTable("linux", { procRoot: "/nowhere" });
		expect(await none.list()).toEqual([]);
		expect(none.lastError).toContain("ENOENT");
		expect(await none.carriers(marker)).toEqual([]);
		expect(await none.find(process.pid)).toBeUndefined();
		expect(await none.bootId()).toBe("");
	});
});

describe("the process table of macOS", () => {
	const plain = recorded("macos-commands.txt");
	const withEnvironment = recorded("macos-commands-with-environment.txt");

	it("reads recorded processes", () => {
		const entries = parseMacosProcesses(processes);
		expect(entries).toHaveLength(11);
		expect(entries[7]).toEqual({
			pid: 48190,
			ppid: 48177,
			pgid: 48190,
			startTime: "Mon_Nov_30_09:12:52_2026",
			zombie: false,
		});
		expect(entries.filter((entry) => entry.zombie).map((entry) => entry.pid)).toEqual([48200]);
		expect(descendantsOf(entries, [48177]).map((entry) => entry.pid)).toEqual([48190, 48200, 48191]);
	});

	it("tells an environment from a command line", () => {
		expect(parseMacosCarriers(plain, withEnvironment, marker)).toEqual([48177, 48190, 48191]);
		expect(parseMacosCarriers(plain, withEnvironment, { ...marker, value: "r-1" })).toEqual([]);
		expect(parseMacosCarriers("", withEnvironment, marker)).toEqual([]);
	});

	it("asks ps and sysctl", async () => {
		const asked: string[] = [];
		const run = async (command: string, args: readonly string[]): Promise<string> => {
			asked.push([command, ...args].join(" "));
			if (command.endsWith("sysctl")) return "4C0B3A51-7B0E-4A55-9A53-0F3C0A3F7D11\n";
			if (args.includes("-p")) return processes.split("\n").filter((line) => line.includes("48177 48120"))[0] ?? "";
			if (!args.includes("command=")) return processes;
			return args.includes("-E") ? withEnvironment : plain;
		};
		const table = createProcessTable("darwin", { run });
		expect(await table.list()).toHaveLength(11);
		expect(await table.carriers(marker)).toEqual([48177, 48190, 48191]);
		expect(await table.find(48177)).toMatchObject({ pid: 48177, ppid: 48120 });
		expect(await table.find(-48177)).toBeUndefined();
		expect(await table.bootId()).toBe("4C0B3A51-7B0E-4A55-9A53-0F3C0A3F7D11");
		await table.bootId();
		expect(asked.map((line) => line.slice(0, 12))).toEqual([
			"ps -A -o pid",
			"ps -A -ww -o",
			"ps -E -A -ww",
			"ps -p 48177 ",
			"/usr/sbin/sy",
		]);
		expect(table.lastError).toBeUndefined();
	});

	it("is empty, and says why, when ps cannot be run or says nothing", async () => {
		const broken = createProcessTable("darwin", { run: () => Promise.reject(new Error("spawn ps ENOENT")) });
		expect(await broken.list()).toEqual([]);
		expect(broken.lastError).toBe("spawn ps ENOENT");
		expect(await broken.find(5)).toBeUndefined();
		expect(await broken.carriers(marker)).toEqual([]);
		expect(await broken.bootId()).toBe("");
		const silent = createProcessTable("darwin", { run: async () => "" });
		expect(await silent.list()).toEqual([]);
		expect(silent.lastError).toBe("ps listed no process");
	});

	it.runIf(process.platform !== "win32" && spawnSync("ps", ["-A"]).status === 0)("reads a real ps", async () => {
		const table = createProcessTable("darwin");
		const mine = (await table.list()).find((entry) => entry.pid === process.pid);
		expect(mine).toMatchObject({ ppid: process.ppid, zombie: false });
		expect(await table.find(process.pid)).toMatchObject({ pid: process.pid, ppid: process.ppid, pgid: mine?.pgid });
		expect(await table.find(2 ** 30)).toBeUndefined();
		expect(table.lastError).toBeUndefined();
	});
});

describe("the process table of Windows", () => {
	const output = recorded("windows-processes.txt");

	it("reads recorded processes, with times finer than a double holds", () => {
		const entries = parseWindowsProcesses(output);
		expect(entries.map((entry) => entry.pid)).toEqual([0, 4, 92, 612, 5120, 7344, 7388, 8012, 9044]);
		expect(entries[8]).toEqual({
			pid: 9044,
			ppid: 5120,
			pgid: undefined,
			startTime: "134089702220000001",
			zombie: false,
		});
	});

	it("A15: a parent that is younger than its child only has the number of the parent", () => {
		const entries = parseWindowsProcesses(output);
		expect(entries.find((entry) => entry.pid === 8012)?.ppid).toBe(0);
		expect(descendantsOf(entries, [7344]).map((entry) => entry.pid)).toEqual([7388]);
	});

	it("asks PowerShell", async () => {
		const asked: string[] = [];
		const run = async (command: string, args: readonly string[]): Promise<string> => {
			asked.push(command);
			const pid = /ProcessId = (\d+)/.exec(args.join(" "))?.[1];
			return pid === undefined
				? output
				: output
						.split("\n")
						.filter((line) => line.startsWith(`${pid} `))
						.join("\n");
		};
		const table = createProcessTable("win32", { run });
		expect(await table.list()).toHaveLength(9);
		expect(await table.find(7388)).toMatchObject({ pid: 7388, ppid: 7344 });
		expect(await table.find(7389)).toBeUndefined();
		expect(await table.bootId()).toBe("134089632391234567");
		expect(await table.carriers(marker)).toEqual([]);
		expect(new Set(asked)).toEqual(new Set(["powershell.exe"]));
	});

	it("is empty, and says why, when PowerShell fails", async () => {
		const broken = createProcessTable("win32", { run: () => Promise.reject(new Error("ENOENT")) });
		expect(await broken.list()).toEqual([]);
		expect(broken.lastError).toBe("ENOENT");
		expect(await broken.bootId()).toBe("");
		const denied = createProcessTable("win32", { run: async () => "" });
		expect(await denied.list()).toEqual([]);
		expect(denied.lastError).toBe("Win32_Process listed no process");
	});
});
