// Builds what is published into dist/. The forms were chosen by measurement: see bench/load.ts.
import { execFileSync } from "node:child_process";
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { type BuildOptions, build } from "esbuild";

const root = fileURLToPath(new URL("..", import.meta.url));
const dist = join(root, "dist");
const manifest = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
/** Given by pi to extensions, and by nobody to the library and the command. */
const host: string[] = Object.keys(manifest.peerDependencies);

const common: BuildOptions = {
	absWorkingDir: root,
	bundle: true,
	platform: "node",
	target: "node22.19",
	packages: "external",
	sourcemap: false,
	logLevel: "warning",
	metafile: true,
};

rmSync(dist, { recursive: true, force: true });
await Promise.all([libraryAndCommand(), child(), extension()]);
if (!process.argv.includes("--no-types")) types();

/** The library face and the command: entries that share their code. */
async function libraryAndCommand(): Promise<void> {
	const { metafile } = await build({
		...common,
		entryPoints: { index: "src/index.ts", process: "src/process/index.ts", cli: "src/cli/main.ts" },
		outdir: dist,
		format: "esm",
		splitting: true,
		chunkNames: "chunk-[hash]",
	});
	refuseHostPackages(metafile?.outputs);
}

async function child(): Promise<void> {
	await build({ ...common, entryPoints: { child: "src/child/index.ts" }, outdir: dist, format: "esm" });
}

/**
 * The extension is one CommonJS file that Node loads by itself, behind a small module that pi loads. pi's loader sends every
 * module through a transformer, and only there the host's packages can be imported: the small module hands them over.
 */
async function extension(): Promise<void> {
	const { metafile } = await build({
		...common,
		entryPoints: { extension: "src/extension/index.ts" },
		outdir: dist,
		outExtension: { ".js": ".cjs" },
		format: "cjs",
		define: { "import.meta.url": "__moduleUrl" },
		banner: {
			js: [
				"module.exports = (host) => {",
				"const module = { exports: {} };",
				"const nodeRequire = require;",
				"const __moduleUrl = nodeRequire('node:url').pathToFileURL(__filename).href;",
				"{ const require = (name) => host[name] ?? nodeRequire(name);",
			].join("\n"),
		},
		footer: { js: "}\nreturn module.exports; };" },
	});
	const imported = importsOf(metafile?.outputs).filter((name) => host.includes(name));
	const lines = [
		'import { createRequire } from "node:module";',
		...imported.map((name, index) => `import * as host${index} from ${JSON.stringify(name)};`),
		`const host = { ${imported.map((name, index) => `${JSON.stringify(name)}: host${index}`).join(", ")} };`,
		'export default createRequire(import.meta.url)("./extension.cjs")(host).default;',
	];
	writeFileSync(join(dist, "extension.js"), `${lines.join("\n")}\n`);
}

function types(): void {
	execFileSync(
		process.execPath,
		[
			join(root, "node_modules/typescript/lib/tsc.js"),
			...["--noEmit", "false", "--emitDeclarationOnly", "--declaration", "--rootDir", "src", "--outDir", "dist/types"],
			...["-p", "tsconfig.build.json"],
		],
		{ cwd: root, stdio: "inherit" },
	);
}

type Outputs = NonNullable<Awaited<ReturnType<typeof build>>["metafile"]>["outputs"];

function importsOf(outputs: Outputs = {}): string[] {
	const names = Object.values(outputs).flatMap(({ imports }) => imports.filter((i) => i.external).map((i) => i.path));
	return [...new Set(names)];
}

function refuseHostPackages(outputs: Outputs | undefined): void {
	const wrong = importsOf(outputs).filter((name) => host.some((pkg) => name === pkg || name.startsWith(`${pkg}/`)));
	if (wrong.length > 0) throw new Error(`Below src/extension nothing may need ${wrong.join(", ")} at run time.`);
}
