import { mkdirSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { makeDirectory } from "../../src/process/index.ts";
import { temporaryDirectory } from "./started-child.ts";

test("makes what is missing, for the owner alone, and takes what is there as it is", () => {
	const path = join(temporaryDirectory(), "a", "b", "c");
	makeDirectory(path);
	makeDirectory(path);
	for (const made of [path, join(path, ".."), join(path, "..", "..")])
		if (process.platform !== "win32") expect(statSync(made).mode & 0o777).toBe(0o700);
});

test("an existing directory keeps its mode", () => {
	const path = join(temporaryDirectory(), "open");
	mkdirSync(path);
	const { mode } = statSync(path);
	makeDirectory(path);
	expect(statSync(path).mode).toBe(mode);
});

test("a file in the way is an error", () => {
	const file = join(temporaryDirectory(), "file");
	writeFileSync(file, "");
	expect(() => makeDirectory(file)).toThrow(/EEXIST/);
	expect(() => makeDirectory(join(file, "below"))).toThrow(/ENOTDIR|EEXIST|ENOENT/);
});

test("a file system that takes no entries is an error, and not an endless loop", ({ skip }) => {
	skip(process.platform !== "linux", "only Linux has such a file system everywhere: /proc");
	expect(() => makeDirectory("/proc/flightdeck/runs")).toThrow(/ENOENT/);
});
