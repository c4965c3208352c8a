import { join, resolve } from "node:path";
import { describe, expect, test } from "vitest";
import { flightdeckDirectory, runPaths } from "../../src/records/run-directory.ts";
import { isRunId, newRunId, shortRunId } from "../../src/records/run-id.ts";
import { RUN_ID } from "./descriptions.ts";

describe("the directory of all records", () => {
	test.each([
		[{}, "/agent/flightdeck"],
		[{ PI_FLIGHTDECK_DIR: "" }, "/agent/flightdeck"],
		[{ PI_FLIGHTDECK_DIR: "/records" }, "/records"],
		[{ PI_FLIGHTDECK_DIR: "records" }, join(process.cwd(), "records")],
	])("with %j is %s", (env, expected) => {
		expect(flightdeckDirectory({ env, agentDir: "/agent" })).toBe(resolve(expected));
	});
});

describe("the paths of a run", () => {
	test("lie in a folder named by its id", () => {
		const paths = runPaths("/records", RUN_ID);
		expect(paths.root).toBe(join("/records", "runs", RUN_ID));
		for (const path of [paths.manifest, paths.journal, paths.summary, paths.result(3)])
			expect(path.startsWith(paths.root)).toBe(true);
		expect(paths.result(3)).toBe(join(paths.root, "result-3.md"));
	});

	test.each([
		"",
		".",
		"..",
		"../../etc/passwd",
		"/etc/passwd",
		"C:\\Windows",
		"con",
		`${RUN_ID}/..`,
		`../${RUN_ID}`,
		` ${RUN_ID}`,
		`${RUN_ID}\n`,
		`${RUN_ID}\0`,
		RUN_ID.toUpperCase(),
		RUN_ID.slice(1),
		// Version 4.
		"f47ac10b-58cc-4372-a567-0e02b2c3d479",
		"00000000-0000-0000-0000-000000000000",
		"x".repeat(1_000_000),
	])("are refused for a hostile id (%#)", (id) => {
		expect(isRunId(id)).toBe(false);
		expect(() => runPaths("/records", id)).toThrow(RangeError);
		expect(() => runPaths("/records", id)).toThrow(/^".{0,80}" is no run id\.$/s);
	});
});

test("new ids are valid, different, and sort by their time", () => {
	const ids = Array.from({ length: 100 }, newRunId);
	expect(ids.every(isRunId)).toBe(true);
	expect(new Set(ids.map(shortRunId)).size).toBe(100);
	expect([...ids].sort()).toEqual(ids);
	expect(shortRunId(RUN_ID)).toBe("deadbeef");
});
