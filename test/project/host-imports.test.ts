import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { build, type Plugin } from "esbuild";
import { afterEach, beforeEach, describe, expect, it } from "vitest";

const root = join(import.meta.dirname, "../..");
const provided = /^(@earendil-works\/|typebox($|\/))/;

/** What a file imports is listed and not followed, so that each file answers for itself. */
const listImports: Plugin = {
	name: "list-imports",
	setup(bundler) {
		bundler.onResolve({ filter: /.*/ }, ({ kind, path }) =>
			kind === "entry-point" ? undefined : { path, external: true },
		);
	},
};

/** The host-provided packages that files outside src/extension need at run time, as `file: package`. */
async function hostImportsIn(directory: string): Promise<string[]> {
	const files = readdirSync(join(directory, "src"), { recursive: true, encoding: "utf8" })
		.map((file) => `src/${file.replaceAll("\\", "/")}`)
		.filter((file) => file.endsWith(".ts") && !file.startsWith("src/extension/"));
	expect(files.length).toBeGreaterThan(0);
	const { metafile } = await build({
		absWorkingDir: directory,
		entryPoints: files,
		bundle: true,
		metafile: true,
		write: false,
		outdir: "out",
		format: "esm",
		platform: "node",
		plugins: [listImports],
		tsconfigRaw: { compilerOptions: { verbatimModuleSyntax: true } },
	});
	return Object.entries(metafile.inputs)
		.flatMap(([file, { imports }]) => imports.map(({ path }) => ({ file, path })))
		.filter(({ path }) => provided.test(path))
		.map(({ file, path }) => `${file}: ${path}`)
		.sort();
}

describe("host-provided packages", () => {
	it("are needed at run time by src/extension alone", async () => {
		expect(await hostImportsIn(root)).toEqual([]);
	});
});

describe("the check of host-provided packages", () => {
	let tree: string;

	beforeEach(() => {
		tree = mkdtempSync(join(tmpdir(), "flightdeck-host-"));
	});

	afterEach(() => rmSync(tree, { recursive: true, force: true, maxRetries: 5 }));

	function write(file: string, content: string): void {
		mkdirSync(dirname(join(tree, file)), { recursive: true });
		writeFileSync(join(tree, file), content);
	}

	it("accepts types, and everything in src/extension", async () => {
		write("src/child/index.ts", 'import type { A } from "@earendil-works/pi-coding-agent";\nexport const a: A = 1;\n');
		write("src/settings/a.ts", 'export type { Static } from "typebox";\nexport type B = import("typebox").B;\n');
		write("src/extension/index.ts", 'import { Type } from "typebox";\nexport const a = Type;\n');
		write(
			"src/process/a.ts",
			'import { b } from "./missing.ts";\nimport { parse } from "yaml";\nexport { b, parse };\n',
		);
		expect(await hostImportsIn(tree)).toEqual([]);
	});

	it.each([
		["a value", 'import { Type } from "typebox";\nexport const a = Type;\n', "typebox"],
		["an unused value", 'import { Type } from "typebox/compile";\n', "typebox/compile"],
		[
			"inline types, which leave the import standing",
			'import { type A } from "typebox";\nexport type B = A;\n',
			"typebox",
		],
		["everything", 'export * from "@earendil-works/pi-ai";\n', "@earendil-works/pi-ai"],
		["an effect", 'import "@earendil-works/pi-tui";\n', "@earendil-works/pi-tui"],
		["an import on demand", 'export const a = () => import("typebox");\n', "typebox"],
		["a require", 'export const a = require("typebox");\n', "typebox"],
	])("refuses %s", async (_what, source, name) => {
		write("src/manager/a.ts", source);
		expect(await hostImportsIn(tree)).toEqual([`src/manager/a.ts: ${name}`]);
	});
});
