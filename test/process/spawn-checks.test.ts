import { chmodSync, existsSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import {
	checkSpawn,
	findOnPath,
	ManagedProcessFactory,
	OutputHandlerRegistry,
	SpawnCheckError,
	type SpawnRequest,
	spawnChecked,
} from "../../src/process/index.ts";
import { childCommand, temporaryDirectory } from "./started-child.ts";

const PATH = process.env.PATH;

function request(more: Partial<SpawnRequest> = {}): SpawnRequest {
	return { command: "true", args: [], cwd: "/", env: { PATH }, ...more };
}

/** The text of a refusal, undefined for none. */
function refusal(more: Partial<SpawnRequest>, platform?: NodeJS.Platform): string | undefined {
	try {
		checkSpawn(request(more), platform);
		return undefined;
	} catch (error) {
		expect(error).toBeInstanceOf(SpawnCheckError);
		return (error as SpawnCheckError).message;
	}
}

/** Runs it for real and gives what it printed. */
async function run(more: Partial<SpawnRequest>): Promise<string[]> {
	const child = spawnChecked(request(more), ["ignore", "pipe", "pipe"]);
	const managed = new ManagedProcessFactory(new OutputHandlerRegistry()).create(child, { label: "test" });
	const lines: string[] = [];
	managed.on("line", (line) => lines.push(line));
	expect(await managed.settled).toMatchObject({ code: 0, spawnError: undefined });
	return lines;
}

function printArguments(args: readonly string[]): Pick<SpawnRequest, "command" | "args"> {
	const [command, all] = childCommand("print-arguments.mjs", args);
	return { command, args: all };
}

describe("the working directory", () => {
	it("missing, a file, behind a file, in a circle, or with NUL: the text names it and not the program", () => {
		const directory = temporaryDirectory();
		const file = join(directory, "file");
		writeFileSync(file, "");
		const circle = join(directory, "circle");
		symlinkSync(circle, circle);
		const missing = (cwd: string) => `The working directory ${cwd} does not exist. Give an existing directory as cwd.`;
		for (const cwd of [join(directory, "none"), join(file, "x"), circle, join(directory, "x".repeat(300))])
			expect(refusal({ cwd })).toBe(missing(cwd));
		expect(refusal({ cwd: file })).toBe(`The working directory ${file} is not a directory.`);
		expect(refusal({ cwd: "a\0b" })).toBe("The working directory a\\0b contains a NUL character. Remove it.");
	});
});

describe("the program", () => {
	it("missing on PATH", () => {
		const message = "The program no-such-program was not found on PATH. Install it, or give its full path.";
		expect(refusal({ command: "no-such-program" })).toBe(message);
		expect(refusal({ command: "true", env: {} })).toContain("true was not found on PATH");
		expect(refusal({ command: "x".repeat(300) })).toContain("was not found on PATH");
	});

	it("missing, a directory, or not executable at its path; relative paths begin at cwd", () => {
		const cwd = temporaryDirectory();
		const tool = join(cwd, "tool");
		expect(refusal({ command: tool })).toBe(`The program ${tool} does not exist. Check the path, or reinstall it.`);
		expect(refusal({ command: cwd })).toBe(`The program ${cwd} is not a file.`);
		writeFileSync(tool, "#!/bin/sh\nexit 0\n", { mode: 0o644 });
		const message = (command: string) => `The program ${command} is not executable. Run: chmod +x ${command}`;
		expect(refusal({ command: tool })).toBe(message(tool));
		expect(refusal({ command: "./tool", cwd })).toBe(message("./tool"));
		chmodSync(tool, 0o755);
		expect(refusal({ command: "./tool", cwd })).toBeUndefined();
		expect(refusal({ command: "./tool" })).toContain("does not exist");
	});

	it("is the first executable of the name on PATH, whatever else lies there", () => {
		const directory = temporaryDirectory();
		const folder = (name: string) => join(directory, name);
		for (const name of ["as-folder", "as-data", "good", "later"]) mkdirSync(folder(name));
		mkdirSync(join(folder("as-folder"), "tool"));
		writeFileSync(join(folder("as-data"), "tool"), "", { mode: 0o644 });
		for (const name of ["good", "later"]) writeFileSync(join(folder(name), "tool"), "", { mode: 0o755 });
		symlinkSync(folder("circle"), folder("circle"));
		const path = ["relative", folder("none"), folder("circle"), folder("as-folder"), folder("as-data")];
		expect(findOnPath("tool", { PATH: [...path, folder("good"), folder("later")].join(":") })).toBe(
			join(folder("good"), "tool"),
		);
		expect(findOnPath("tool", { PATH: path.join(":") })).toBeUndefined();
	});

	it("K1: on Windows only .exe and .com can be started without a shell", () => {
		const directory = temporaryDirectory();
		for (const name of ["pi", "pi.cmd", "git.exe"]) writeFileSync(join(directory, name), "");
		const env = { Path: directory };
		expect(findOnPath("git", env, "win32")).toBe(join(directory, "git.exe"));
		expect(findOnPath("git.exe", env, "win32")).toBe(join(directory, "git.exe"));
		expect(findOnPath("pi", env, "win32")).toBeUndefined();
	});
});

describe("NUL characters", () => {
	it("A14: in an argument or a variable are named, before anything is spawned", () => {
		const remedy = "contains a NUL character. Remove it, or hand the text over by file or stdin.";
		expect(refusal({ args: ["ok", "a\0b"] })).toBe(`Argument 2 of true ${remedy}`);
		expect(refusal({ command: "tr\0ue" })).toBe(`Argument 0 of tr\\0ue ${remedy}`);
		expect(refusal({ env: { PATH, BAD: "a\0b" } })).toBe(
			"The environment variable BAD contains a NUL character. Unset it.",
		);
		expect(refusal({ env: { PATH, "B\0": "x" } })).toContain("variable B\\0 contains");
		expect(() => spawnChecked(request({ args: ["a\0b"] }))).toThrow(SpawnCheckError);
	});
});

describe("sizes", () => {
	const LIMIT = 131_071;

	it("A12: one argument of 131,071 bytes passes and arrives, one of 131,072 is refused with size and remedy", async () => {
		const lines = await run({ ...printArguments(["x".repeat(LIMIT)]), env: {} });
		expect(JSON.parse(lines[0] ?? "")).toEqual(["x".repeat(LIMIT)]);
		expect(refusal({ args: ["ok", "x".repeat(LIMIT + 1)] }, "linux")).toBe(
			"Argument 2 has 131073 bytes; Linux allows 131072. Hand long text over by file or stdin.",
		);
		// Bytes, not characters.
		expect(refusal({ args: ["é".repeat(LIMIT / 2 + 1)] }, "linux")).toContain("Argument 1 has 131073 bytes");
		expect(refusal({ args: ["x".repeat(LIMIT + 1)] }, "darwin")).toBeUndefined();
	});

	it("A12: the same holds for a variable, name and equals sign included", async () => {
		const value = "x".repeat(LIMIT - 2);
		await run({ env: { PATH, V: value } });
		expect(refusal({ env: { PATH, V: `${value}x` } }, "linux")).toContain(
			"The environment variable V has 131073 bytes",
		);
	});

	it("A12: all together: just under the limit is spawned, over it is refused", async () => {
		const piece = "x".repeat(100_000);
		expect(refusal({ args: Array(30).fill(piece) }, "linux")).toMatch(
			/^Arguments and environment have 3000\d\d\d bytes together; this system allows 2097152\. Shorten/,
		);
		expect(refusal({ args: Array(11).fill(piece) }, "darwin")).toContain("allows 1048576");
		await run({ args: Array(20).fill(piece) });
	});

	it("K3: on Windows the command line is limited, its quoting included", () => {
		// Drive letters are no paths here; what counts is the text.
		const command = process.execPath;
		const length = (text: string) => refusal({ command, args: [text] }, "win32");
		const room = 32_767 - 1 - (command.length + 3) - 3;
		expect(length("x".repeat(room))).toBeUndefined();
		expect(length("x".repeat(room + 1))).toBe(
			"The command line has 32768 characters; Windows allows 32767. Hand long text over by file or stdin.",
		);
		expect(length('"'.repeat(room / 2 + 1))).toContain("Windows allows 32767");
	});
});

describe("spawnChecked", () => {
	it("H11: uses no shell: what a shell would act on arrives as it is", async () => {
		const cwd = temporaryDirectory();
		const args = [
			"$(touch x)",
			"`touch x`",
			"; touch x",
			"& touch x",
			"*",
			"a b",
			'"',
			"'",
			"",
			"line\nline",
			"%PATH%",
		];
		const lines = await run({ ...printArguments(args), cwd });
		expect(JSON.parse(lines[0] ?? "")).toEqual(args);
		expect(lines[1]).toBe(cwd);
		expect(existsSync(join(cwd, "x"))).toBe(false);
	});

	it("A1: starts the child in a group and session of its own", async () => {
		const [command, args] = childCommand("print-group.sh");
		const child = spawnChecked(request({ command, args }), ["ignore", "pipe", "ignore"]);
		const managed = new ManagedProcessFactory(new OutputHandlerRegistry()).create(child, { label: "test" });
		const lines: string[] = [];
		managed.on("line", (line) => lines.push(line));
		await managed.settled;
		expect(lines).toEqual([`${child.pid} ${child.pid} ${child.pid}`]);
	});

	it("gives the child the environment it was given and no more", async () => {
		const lines = await run({ command: "env", env: { PATH, ONLY: "this", NOT: undefined } });
		expect(lines.sort()).toEqual(["ONLY=this", `PATH=${PATH}`]);
	});
});
