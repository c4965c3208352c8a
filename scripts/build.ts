// Builds what is published into dist/. The forms were chosen by measurement: see bench/load.ts.
import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { type BuildOptions, build } from "esbuild";

const root = fileURLToPath(new URL("..", import.meta.url));
const dist = join(root, "dist");
const manifest = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
/** Given by pi to extensions, and by nobody to the library and the command. Everything else is bundled. */
const host: string[] = Object.keys(manifest.peerDependencies);

const common: BuildOptions = {
	absWorkingDir: root,
	bundle: true,
	platform: "node",
	target: "node22.19",
	external: host,
	// Its modules for browsers are the same code as ECMAScript modules, of which only what is used goes in.
	alias: { yaml: join(root, "node_modules/yaml/browser/index.js") },
	legalComments: "eof",
	sourcemap: false,
	logLevel: "warning",
	metafile: true,
};

const startedAt = Date.now();
await Promise.all([libraryAndCommand(), child(), extension()]);
if (!process.argv.includes("--no-types")) types();
removeStale();

/** The library face and the command: entries that share their code. */
async function libraryAndCommand(): Promise<void> {
	const { metafile } = await build({
		...common,
		entryPoints: {
			index: "src/index.ts",
			process: "src/process/index.ts",
			observers: "src/observers/index.ts",
			pi: "src/runtimes/pi/index.ts",
			cli: "src/cli/bin.ts",
		},
		outdir: dist,
		format: "esm",
		splitting: true,
		chunkNames: "chunk-[hash]",
	});
	refuseHostPackages(metafile?.outputs);
	writeLicenses(Object.keys(metafile?.inputs ?? {}));
}

/** The licences of the packages whose code is in what we publish: their condition for being in it. */
function writeLicenses(inputs: readonly string[]): void {
	const packages = [
		...new Set(inputs.map((path) => /node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(path)?.[1] ?? "")),
	].sort();
	const texts = packages.filter(Boolean).map((name) => {
		const folder = join(root, "node_modules", name);
		const license = readdirSync(folder).find((file) => /^licen[cs]e/i.test(file));
		if (!license) throw new Error(`${name} is bundled and has no licence file.`);
		const { version } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
		return `${name} ${version}\n\n${readFileSync(join(folder, license), "utf8").trim()}\n`;
	});
	if (texts.length === 0) throw new Error("No bundled package was found.");
	writeFileSync(join(dist, "THIRD-PARTY-LICENSES.txt"), texts.join(`\n${"-".repeat(72)}\n\n`));
}

async function child(): Promise<void> {
	await build({ ...common, entryPoints: { child: "src/child/index.ts" }, outdir: dist, format: "esm" });
}

/**
 * The extension is one CommonJS file that Node loads by itself, behind a small module that pi loads. pi's loader sends every
 * module through a transformer, and only there the host's packages can be imported: the small module hands them over.
 */
async function extension(): Promise<void> {
	const options: BuildOptions = { ...common, entryPoints: { extension: "src/extension/index.ts" }, outdir: dist };
	await build({
		...options,
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
	writeFileSync(join(dist, "extension.ts"), entryModule(await hostImports(options)));
}

/**
 * TypeScript by its name, so that pi's loader transforms it: a JavaScript module it imports natively first, and where pi lies
 * in a node_modules folder above us that loads a second pi (0.6 s, bench/load.ts).
 */
function entryModule(imports: ReadonlyMap<string, ReadonlySet<string>>): string {
	const hosts = [...imports].map(([name, names], index) => {
		const aliased = [...names].map((imported) => ({ imported, local: `${imported}${index}` }));
		return {
			statement: `import { ${aliased.map(({ imported, local }) => `${imported} as ${local}`).join(", ")} } from "${name}";`,
			entry: `"${name}": { ${aliased.map(({ imported, local }) => `${imported}: ${local}`).join(", ")} }`,
		};
	});
	return [
		'import { createRequire } from "node:module";',
		...hosts.map(({ statement }) => statement),
		`const host = { ${hosts.map(({ entry }) => entry).join(", ")} };`,
		'export default createRequire(import.meta.url)("./extension.cjs")(host).default;',
		"",
	].join("\n");
}

/** Which names the extension takes from which of the host's packages, read off its import statements. */
async function hostImports(options: BuildOptions): Promise<Map<string, Set<string>>> {
	const { outputFiles } = await build({ ...options, format: "esm", write: false });
	const imports = new Map<string, Set<string>>();
	for (const [, names = "", name = ""] of (outputFiles?.[0]?.text ?? "").matchAll(
		/^import \{([^}]*)\} from "([^"]+)";$/gm,
	)) {
		if (!host.includes(name)) continue;
		const known = imports.get(name) ?? new Set();
		for (const imported of names.split(",")) known.add(imported.trim().split(" as ")[0] ?? "");
		known.delete("");
		imports.set(name, known);
	}
	if (imports.size === 0) throw new Error("The extension seems to import nothing from pi.");
	return imports;
}

/** What an earlier build left goes last, so that a program using dist/ meanwhile finds its files. */
function removeStale(): void {
	for (const name of readdirSync(dist)) {
		const file = join(dist, name);
		if (name !== "types" && statSync(file).mtimeMs < startedAt - 1000) rmSync(file);
	}
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
