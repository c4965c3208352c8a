import { chmod, mkdir, writeFile } from "node:fs/promises";
import { delimiter, join } from "node:path";
import { describe, expect, test } from "vitest";
import { currentDepth, parentRunId, piEnvironment, runMarker } from "../../../src/runtimes/pi/pi-environment.ts";
import { tempFolder } from "../../support/temp-folder.ts";

describe("currentDepth", () => {
	test.each<[NodeJS.ProcessEnv, number]>([
		[{}, 0],
		[{ PI_FLIGHTDECK_DEPTH: "1" }, 1],
		[{ PI_SUBAGENT_DEPTH: "2" }, 2],
		[{ PI_CREW_DEPTH: "3" }, 3],
		[{ PI_FLIGHTDECK_DEPTH: "1", PI_SUBAGENT_DEPTH: "4", PI_CREW_DEPTH: "2" }, 4],
		[{ PI_FLIGHTDECK_DEPTH: "", PI_SUBAGENT_DEPTH: "deep", PI_CREW_DEPTH: "-7" }, 0],
		[{ PI_FLIGHTDECK_DEPTH: "Infinity", PI_SUBAGENT_DEPTH: "NaN" }, 0],
		[{ PI_FLIGHTDECK_DEPTH: "2 levels" }, 2],
	])("in %j is %d", (env, depth) => {
		expect(currentDepth(env)).toBe(depth);
	});
});

test("the run above is named by the marker, and an empty one names none", () => {
	const { name, value } = runMarker("run-1");
	expect(parentRunId({ [name]: value })).toBe("run-1");
	expect(parentRunId({ [name]: "" })).toBeUndefined();
	expect(parentRunId({})).toBeUndefined();
});

describe("piEnvironment", () => {
	const make = (env: NodeJS.ProcessEnv, agentDir = "/no/agent/dir") => piEnvironment({ env, runId: "run-2", agentDir });

	test("passes on what is there, with marker, depth and agent folder", () => {
		const env = { PATH: "/nowhere", HOME: "/h", MY_KEY: "k", PI_FLIGHTDECK_RUN: "run-1", PI_SUBAGENT_DEPTH: "2" };
		expect(make(env)).toEqual({
			PATH: "/nowhere",
			HOME: "/h",
			MY_KEY: "k",
			PI_SUBAGENT_DEPTH: "2",
			PI_FLIGHTDECK_RUN: "run-2",
			PI_FLIGHTDECK_DEPTH: "3",
			PI_CODING_AGENT_DIR: "/no/agent/dir",
			PI_SKIP_VERSION_CHECK: "1",
		});
		expect(env.PI_FLIGHTDECK_RUN).toBe("run-1");
	});

	test.each(["PI_SESSION_ID", "PI_SESSION_FILE", "PI_PROVIDER", "PI_MODEL", "PI_REASONING_LEVEL"])(
		"leaves out %s, which describes the parent's session",
		(name) => {
			expect(make({ PATH: "", [name]: "stale" })).not.toHaveProperty(name);
		},
	);
});

describe("offline", () => {
	async function programs(folder: string, ...names: string[]): Promise<string> {
		await mkdir(folder, { recursive: true });
		for (const name of names) {
			const file = join(folder, process.platform === "win32" ? `${name}.exe` : name);
			await writeFile(file, "");
			await chmod(file, 0o755);
		}
		return folder;
	}

	async function offline(onPath: readonly (readonly string[])[], inAgentDir: readonly string[]) {
		await using folder = await tempFolder();
		const agentDir = join(folder.path, "agent");
		await programs(join(agentDir, "bin"), ...inAgentDir);
		const path = await Promise.all(onPath.map((names, i) => programs(join(folder.path, String(i)), ...names)));
		return piEnvironment({ env: { PATH: path.join(delimiter) }, runId: "r", agentDir }).PI_OFFLINE;
	}

	test.each<[string, string[][], string[], string | undefined]>([
		["both on PATH", [["rg", "fd"]], [], "1"],
		["each in another folder of PATH", [["rg"], ["fd"]], [], "1"],
		["both where pi puts them", [], ["rg", "fd"], "1"],
		["one here, one there", [["fd"]], ["rg"], "1"],
		["rg only", [["rg"]], [], undefined],
		["fd only", [[]], ["fd"], undefined],
		["neither", [[]], [], undefined],
	])("with %s: %j + %j → %s", async (_where, onPath, inAgentDir, expected) => {
		expect(await offline(onPath, inAgentDir)).toBe(expected);
	});

	test("a wish of the user's stays", () => {
		expect(piEnvironment({ env: { PATH: "", PI_OFFLINE: "1" }, runId: "r", agentDir: "/x" }).PI_OFFLINE).toBe("1");
	});
});
