import { spawn } from "node:child_process";
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { guardianScript } from "../../src/process/guardian-script.ts";
import { createProcessTable } from "../../src/process/process-table.ts";
import { endAfterTest, lives, marked, newMarker, start, until } from "../support/guardian-support.ts";

const table = createProcessTable();
/** For the tests of macOS: a `ps` that reads `/proc`. */
let directory = "";

beforeAll(() => {
	directory = mkdtempSync(join(tmpdir(), "guardian-script-"));
	const fake = fileURLToPath(new URL("../support/guardian-fake-ps.ts", import.meta.url));
	writeFileSync(join(directory, "ps"), `#!/bin/sh\nexec '${process.execPath}' '${fake}' "$@"\n`);
	chmodSync(join(directory, "ps"), 0o755);
});
afterAll(() => rmSync(directory, { recursive: true }));

/** Gives the script this input, then the end of input, and waits until it ended. */
async function runScript(platform: "linux" | "darwin", input: string): Promise<number | null> {
	const guardian = spawn("/bin/sh", ["-c", guardianScript, "flightdeck-guardian", platform, "0.3"], {
		detached: true,
		env: { PATH: `${directory}:/usr/bin:/bin`, LC_ALL: "C", TZ: "UTC0" },
		stdio: ["pipe", "ignore", "ignore"],
	});
	const ended = new Promise<number | null>((resolve) => guardian.once("exit", resolve));
	await endAfterTest(guardian.pid ?? 0);
	guardian.stdin.end(input);
	return ended;
}

describe.runIf(process.platform === "linux").each(["linux", "darwin"] as const)(
	"the guardian script on %s",
	(platform) => {
		async function startTime(pid: number): Promise<string> {
			const ticks = (await table.find(pid))?.startTime ?? "";
			return platform === "linux" ? ticks : `Mon_Jan_5_10:00:00_${ticks}`;
		}

		it("A15: signals no process with another start time, nor its group, nor its children", async () => {
			const { pid } = await start("sh", ["-c", "sleep 60 & sleep 60; :"], { detached: true });
			let members: readonly number[] = [];
			await until("three processes", async () => {
				members = (await table.list()).filter((entry) => entry.pgid === pid).map((entry) => entry.pid);
				return members.length === 3;
			});
			await Promise.all(members.map(endAfterTest));
			await runScript(platform, `${pid} ${await startTime(1)} -\n`);
			expect(await Promise.all(members.map(lives))).toEqual([true, true, true]);
		});

		it("A2, A3: finds descendants and whole entries of environments", async () => {
			const marker = newMarker();
			const text = `${marker.name}=${marker.value}`;
			const { pid } = await start("sh", ["-c", "setsid sleep 60 & (setsid sleep 60 &) ; sleep 60; :"], {
				detached: true,
				env: { ...marked(marker), A_VARIABLE: "two\nlines" },
			});
			// The same text as a part of other entries, and on a command line.
			const { pid: other } = await start(process.execPath, ["-e", "setTimeout(() => {}, 60_000)", text], {
				env: { ...process.env, [marker.name]: `${marker.value}x`, [`X${marker.name}`]: marker.value, Y: `\n${text}\n` },
			});
			let carriers: readonly number[] = [];
			await until("four carriers", async () => {
				carriers = await table.carriers(marker);
				return carriers.length === 4;
			});
			await Promise.all(carriers.map(endAfterTest));
			await runScript(platform, `${pid} ${await startTime(pid)} ${text}\n`);
			expect(await table.carriers(marker)).toEqual([]);
			expect(await lives(other)).toBe(true);
		});

		it("follows the last whole line only", async () => {
			const dropped = await start("sleep", ["60"], { detached: true });
			const listed = await start("sleep", ["60"], { detached: true });
			const line = async (pid: number): Promise<string> => `${pid} ${await startTime(pid)} -`;
			await runScript(platform, `${await line(dropped.pid)}\n${await line(listed.pid)}\n${await line(dropped.pid)}`);
			expect(await lives(dropped.pid)).toBe(true);
			expect(await lives(listed.pid)).toBe(false);
		});

		it("does nothing for an empty list", async () => {
			expect(await runScript(platform, "")).toBe(0);
			expect(await runScript(platform, "\n")).toBe(0);
		});
	},
);
