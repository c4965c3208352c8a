import { type ChildProcess, spawn } from "node:child_process";
import { EventEmitter } from "node:events";
import { beforeEach, describe, expect, it, onTestFinished, vi } from "vitest";
import { SpawnCheckError, type SpawnRequest, spawnChecked } from "../../src/process/index.ts";
import { taskkillBy } from "../../src/process/windows-kill.ts";

vi.mock("node:child_process", async (original) => ({ ...(await original<object>()), spawn: vi.fn() }));

const request: SpawnRequest = { command: "true", args: ["a"], cwd: "/", env: { PATH: process.env.PATH } };
const child = new EventEmitter();

function pretendPlatform(platform: NodeJS.Platform): void {
	const own = process.platform;
	Object.defineProperty(process, "platform", { value: platform });
	onTestFinished(() => {
		Object.defineProperty(process, "platform", { value: own });
	});
}

beforeEach(() => {
	vi.mocked(spawn)
		.mockReset()
		.mockReturnValue(child as ChildProcess);
});

describe("what spawn is called with", () => {
	it("K5, A1: hidden on Windows, without a shell, in a group of its own elsewhere", () => {
		expect(spawnChecked(request, "ignore")).toBe(child);
		const options = { cwd: "/", env: request.env, stdio: "ignore", shell: false, windowsHide: true, detached: true };
		expect(vi.mocked(spawn).mock.calls).toEqual([["true", ["a"], options]]);
	});

	it("K5: not detached on Windows, where that would open a console", () => {
		pretendPlatform("win32");
		spawnChecked({ ...request, command: process.execPath });
		expect(vi.mocked(spawn).mock.calls[0]?.[2]).toMatchObject({
			detached: false,
			windowsHide: true,
			shell: false,
			stdio: "pipe",
		});
	});

	it("A12: what node throws becomes a text that names the program", () => {
		vi.mocked(spawn).mockImplementation(() => {
			throw new Error("spawn E2BIG");
		});
		expect(() => spawnChecked(request)).toThrow(new SpawnCheckError("true could not be started: spawn E2BIG"));
	});

	it("taskkill: hidden, and an end of any kind is an answer", async () => {
		const runs = ["close", "error"].map((event) => {
			const done = taskkillBy(spawn)(["/PID", "900000001", "/T", "/F"]);
			child.emit(event, new Error("ENOENT"));
			return done;
		});
		await expect(Promise.all(runs)).resolves.toEqual([undefined, undefined]);
		expect(vi.mocked(spawn).mock.calls[0]).toEqual([
			"taskkill",
			["/PID", "900000001", "/T", "/F"],
			{ stdio: "ignore", windowsHide: true },
		]);
	});
});
