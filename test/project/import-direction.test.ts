import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { transformSync } from "esbuild";
import { afterEach, describe, expect, it } from "vitest";

const root = join(import.meta.dirname, "../..");
const trees: string[] = [];

afterEach(() => {
	for (const tree of trees.splice(0)) rmSync(tree, { recursive: true, force: true, maxRetries: 5 });
});

/** Runs the checker of `npm run imports` in a directory. */
function violationsIn(directory: string): string[] {
	const checker = join(root, "node_modules/dependency-cruiser/bin/dependency-cruise.mjs");
	const config = join(root, ".dependency-cruiser.json");
	const { status, stdout, stderr } = spawnSync(
		process.execPath,
		[checker, "--config", config, "--output-type", "json", "src"],
		{ cwd: directory, encoding: "utf8", maxBuffer: 64 * 1024 * 1024 },
	);
	if (!stdout) throw new Error(`the checker said nothing and ended with ${status}: ${stderr}`);
	const { summary } = JSON.parse(stdout) as {
		summary: { violations: { rule: { name: string }; from: string; to: string }[]; totalCruised: number };
	};
	expect(summary.totalCruised).toBeGreaterThan(0);
	return summary.violations.map(({ rule, from, to }) => `${rule.name}: ${from} -> ${to}`).sort();
}

function createTree(files: Record<string, string>): string {
	const tree = mkdtempSync(join(realpathSync.native(tmpdir()), "flightdeck-imports-"));
	trees.push(tree);
	const packages = ["@earendil-works/pi-coding-agent", "typebox", "yaml", "vitest", "undeclared"];
	const installed = Object.fromEntries(
		packages.flatMap((name) => [
			[`node_modules/${name}/package.json`, JSON.stringify({ name, version: "1.0.0", main: "index.js" })],
			[`node_modules/${name}/index.js`, "export const thing = 1;\n"],
		]),
	);
	const manifest = {
		name: "tree",
		type: "module",
		dependencies: { yaml: "*" },
		peerDependencies: { "@earendil-works/pi-coding-agent": "*", typebox: "*" },
		devDependencies: { "@earendil-works/pi-coding-agent": "*", typebox: "*", vitest: "*" },
	};
	for (const [file, content] of Object.entries({ ...files, ...installed, "package.json": JSON.stringify(manifest) })) {
		mkdirSync(dirname(join(tree, file)), { recursive: true });
		writeFileSync(join(tree, file), content);
	}
	return tree;
}

const folders = [
	"extension",
	"cli",
	"manager",
	"runtimes/pi",
	"runtimes/copilot",
	"agents",
	"settings",
	"records",
	"observers",
	"events",
	"process",
	"child",
];

/** A tree in which every folder has a file that imports nothing, with the given files over it. */
function treeOf(files: Record<string, string>): string {
	const leaves = folders.map((folder) => [`src/${folder}/leaf.ts`, "export type Leaf = string;\n"]);
	return createTree({ ...Object.fromEntries(leaves), ...files });
}

function importing(...specifiers: string[]): string {
	return specifiers.map((specifier) => `import "${specifier}";\n`).join("");
}

function leavesOf(above: string, ...below: string[]): string {
	return importing(...below.map((folder) => `${above}${folder}/leaf.ts`));
}

describe("the order of the folders", () => {
	it("holds in src", () => {
		expect(violationsIn(root)).toEqual([]);
	});

	it("lists every folder of src and no file beside index.ts", () => {
		const entries = readdirSync(join(root, "src"), { withFileTypes: true });
		const known = folders.map((folder) => folder.split("/")[0]);
		expect(entries.filter((entry) => entry.isDirectory() && !known.includes(entry.name))).toEqual([]);
		expect(entries.filter((entry) => entry.isFile()).map((entry) => entry.name)).toEqual(
			entries.some((entry) => entry.name === "index.ts") ? ["index.ts"] : [],
		);
	});

	it("leaves src/events without a line of code at run time", () => {
		const events = join(root, "src/events");
		for (const file of readdirSync(events, { recursive: true, encoding: "utf8" })) {
			if (!file.endsWith(".ts")) continue;
			const { code } = transformSync(readFileSync(join(events, file), "utf8"), {
				loader: "ts",
				tsconfigRaw: { compilerOptions: { verbatimModuleSyntax: true } },
			});
			expect(code.replace(/export \{\s*\};?/g, "").trim(), file).toBe("");
		}
	});
});

describe("the checker of import directions", () => {
	it("accepts imports from folders below, from Node and from declared packages", () => {
		const tree = treeOf({
			"src/index.ts": leavesOf("./", "manager", "runtimes/pi", "records", "process"),
			"src/extension/index.ts": importing("../index.ts", "@earendil-works/pi-coding-agent", "typebox"),
			"src/cli/main.ts": importing("../index.ts", "../manager/leaf.ts", "yaml"),
			"src/manager/a.ts": leavesOf("../", "runtimes/pi", "runtimes/copilot", "agents", "records", "process"),
			"src/runtimes/shared.ts": importing("../agents/leaf.ts"),
			"src/runtimes/pi/a.ts": importing("../shared.ts", "./leaf.ts", "../../child/leaf.ts"),
			"src/agents/a.ts": importing("../settings/leaf.ts", "yaml"),
			"src/records/a.ts": leavesOf("../", "observers", "events", "process"),
			"src/observers/a.ts": leavesOf("../", "events", "process"),
			"src/process/a.ts": importing("node:child_process", "./leaf.ts"),
			"src/child/a.ts":
				'import type { thing } from "@earendil-works/pi-coding-agent";\nexport type A = typeof thing;\n',
		});
		expect(violationsIn(tree)).toEqual([]);
	});

	it.each([
		["manager-imports-below", "src/manager/a.ts", "src/extension/leaf.ts"],
		["manager-imports-below", "src/manager/a.ts", "src/cli/leaf.ts"],
		["extension-imports-below", "src/extension/a.ts", "src/cli/leaf.ts"],
		["cli-imports-below", "src/cli/a.ts", "src/extension/leaf.ts"],
		["runtimes-imports-below", "src/runtimes/pi/a.ts", "src/manager/leaf.ts"],
		["runtimes-stay-apart", "src/runtimes/pi/a.ts", "src/runtimes/copilot/leaf.ts"],
		["runtimes-stay-apart", "src/runtimes/copilot/a.ts", "src/runtimes/pi/leaf.ts"],
		["agents-imports-below", "src/agents/a.ts", "src/runtimes/pi/leaf.ts"],
		["settings-imports-below", "src/settings/a.ts", "src/agents/leaf.ts"],
		["records-imports-below", "src/records/a.ts", "src/settings/leaf.ts"],
		["observers-imports-below", "src/observers/a.ts", "src/records/leaf.ts"],
		["events-imports-below", "src/events/a.ts", "src/observers/leaf.ts"],
		["process-imports-below", "src/process/a.ts", "src/events/leaf.ts"],
		["process-imports-below", "src/process/a.ts", "src/child/leaf.ts"],
		["child-imports-below", "src/child/a.ts", "src/process/leaf.ts"],
		["index-imports-the-core", "src/index.ts", "src/extension/leaf.ts"],
		["manager-imports-below", "src/manager/a.ts", "src/index.ts"],
		["listed-folders-only", "src/util/a.ts", "src/process/leaf.ts"],
		["src-without-tests-and-tools", "src/manager/a.ts", "support/builder.ts"],
		["src-without-tests-and-tools", "src/manager/a.ts", "test/manager/builder.ts"],
		["src-without-tests-and-tools", "src/cli/a.ts", "dist/leaf.ts"],
		["src-without-tests-and-tools", "src/cli/a.ts", "scripts/build.ts"],
	])("%s: refuses %s -> %s, types included", (rule, from, to) => {
		const upwards = "../".repeat(from.split("/").length - 1);
		const tree = treeOf({
			[to]: "export type Leaf = string;\n",
			[from]: `import type { Leaf } from "${upwards.replace(/^$/, "./")}${to}";\nexport type A = Leaf;\n`,
		});
		expect(violationsIn(tree)).toEqual([`${rule}: ${from} -> ${to}`]);
	});

	it("refuses circles, packages that nobody gets, and imports that lead nowhere", () => {
		const tree = treeOf({
			"src/records/a.ts": importing("./b.ts"),
			"src/records/b.ts": importing("./a.ts"),
			"src/manager/a.ts": importing("vitest"),
			"src/cli/a.ts": importing("undeclared"),
			"src/settings/a.ts": importing("./missing.ts"),
			"src/process/a.ts": importing("yaml"),
		});
		expect(violationsIn(tree)).toEqual([
			"no-circular: src/records/a.ts -> src/records/b.ts",
			"no-development-dependency: src/manager/a.ts -> node_modules/vitest/index.js",
			"no-undeclared-package: src/cli/a.ts -> node_modules/undeclared/index.js",
			"not-resolvable: src/settings/a.ts -> ./missing.ts",
			"process-needs-no-package: src/process/a.ts -> node_modules/yaml/index.js",
		]);
	});
});
