import { chmod, mkdir, symlink, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import { locatePi, PI_OVERRIDE_VARIABLE, PiNotFoundError } from "../../../src/runtimes/pi/locate-pi.ts";
import { tempFolder } from "../../support/temp-folder.ts";

const NODE = "/usr/bin/node";
const NOWHERE = { env: { PATH: "" }, execPath: NODE };

async function put(file: string, text = ""): Promise<string> {
	await mkdir(dirname(file), { recursive: true });
	await writeFile(file, text);
	await chmod(file, 0o755);
	return file;
}

/** A folder like that of the installed package. */
async function putPackage(root: string, version = "9.8.7") {
	const dir = join(root, "node_modules", "@earendil-works", "pi-coding-agent");
	await put(
		join(dir, "package.json"),
		JSON.stringify({ name: "@earendil-works/pi-coding-agent", version, type: "module", exports: "./index.js" }),
	);
	await put(join(dir, "index.js"));
	return { dir, script: await put(join(dir, "dist", "bundle", "cli.js")) };
}

describe("an override", () => {
	test("that is a script is run by our Node", async () => {
		await using folder = await tempFolder();
		const { script } = await putPackage(folder.path);
		const found = { command: NODE, args: [script], foundBy: "override", version: "9.8.7" };
		expect(locatePi({ ...NOWHERE, override: script })).toEqual(found);
		expect(locatePi({ ...NOWHERE, env: { [PI_OVERRIDE_VARIABLE]: script } })).toEqual(found);
	});

	test("that is a program is run as it is, and goes before the host", async () => {
		await using folder = await tempFolder();
		const { dir, script } = await putPackage(folder.path);
		const program = await put(join(folder.path, "other", "my-pi"));
		expect(locatePi({ ...NOWHERE, override: program, host: { packageDir: dir, script } })).toMatchObject({
			command: program,
			args: [],
			foundBy: "override",
		});
	});

	test("given goes before the variable, and an empty one counts as none", async () => {
		await using folder = await tempFolder();
		const [a, b] = [await put(join(folder.path, "a")), await put(join(folder.path, "b"))];
		const env = { PATH: "", [PI_OVERRIDE_VARIABLE]: b };
		expect(locatePi({ ...NOWHERE, env, override: a }).command).toBe(a);
		expect(locatePi({ ...NOWHERE, env, override: "" }).command).toBe(b);
	});

	test.each(["missing", "."])("%s that is no file is an error, not a reason to look elsewhere", async (name) => {
		await using folder = await tempFolder();
		const override = join(folder.path, name);
		expect(() => locatePi({ ...NOWHERE, override })).toThrow(PiNotFoundError);
		expect(() => locatePi({ ...NOWHERE, override })).toThrow(
			`${override} is no file. --pi and PI_FLIGHTDECK_PI take the path of the pi program.`,
		);
	});
});

describe("inside pi", () => {
	test("the running one is used, its symlink kept", async () => {
		await using folder = await tempFolder();
		const { dir, script } = await putPackage(folder.path);
		const link = join(folder.path, "pi");
		await symlink(script, link);
		expect(locatePi({ ...NOWHERE, host: { packageDir: dir, script: link } })).toEqual({
			command: NODE,
			args: [link],
			foundBy: "running",
			version: "9.8.7",
		});
	});

	test.each(["other program", "neighbour of the package", "missing", "none"])(
		"embedded in another program (script: %s), its package has the command",
		async (kind) => {
			await using folder = await tempFolder();
			const { dir, script } = await putPackage(folder.path);
			const scripts: Record<string, string | undefined> = {
				"other program": await put(join(folder.path, "app.js")),
				"neighbour of the package": await put(`${dir}-fork/cli.js`),
				missing: join(dir, "gone.js"),
			};
			expect(locatePi({ ...NOWHERE, host: { packageDir: dir, script: scripts[kind] } })).toEqual({
				command: NODE,
				args: [script],
				foundBy: "running",
				version: "9.8.7",
			});
		},
	);

	test.each(["/opt/pi/pi", "/opt/pi/pi.exe", "/opt/nodejs-app"])(
		"compiled to the program %s, that is run without a script",
		async (execPath) => {
			await using folder = await tempFolder();
			const { dir } = await putPackage(folder.path);
			const host = { packageDir: dir, script: "/$bunfs/root/pi" };
			expect(locatePi({ ...NOWHERE, execPath, host })).toEqual({
				command: execPath,
				args: [],
				foundBy: "running",
				version: "9.8.7",
			});
		},
	);

	test.each(["/usr/bin/bun", "/x/NODE.EXE"])("run by %s, that runs the child too", async (execPath) => {
		await using folder = await tempFolder();
		const { dir, script } = await putPackage(folder.path);
		expect(locatePi({ ...NOWHERE, execPath, host: { packageDir: dir, script } })).toMatchObject({
			command: execPath,
			args: [script],
		});
	});

	test("a stranger from PATH is never used", async () => {
		await using folder = await tempFolder();
		await put(join(folder.path, "bin", "pi"));
		const host = { packageDir: join(folder.path, "gone"), script: undefined };
		const clues = { ...NOWHERE, env: { PATH: join(folder.path, "bin") }, host };
		expect(() => locatePi(clues)).toThrow(/has no dist.bundle.cli\.js: it is too old, or incomplete/);
	});
});

describe("outside pi", () => {
	test("the installed peer goes before PATH", async () => {
		await using folder = await tempFolder();
		const { script } = await putPackage(folder.path);
		await put(join(folder.path, "bin", "pi"));
		const env = { PATH: join(folder.path, "bin") };
		const resolveFrom = await put(join(folder.path, "app", "main.js"));
		expect(locatePi({ ...NOWHERE, env, resolveFrom })).toEqual({
			command: NODE,
			args: [script],
			foundBy: "package",
			version: "9.8.7",
		});
	});

	test.runIf(process.platform !== "win32")("on PATH a link to a script is run by our Node", async () => {
		await using folder = await tempFolder();
		const { script } = await putPackage(folder.path);
		const bin = join(folder.path, "bin");
		await mkdir(bin);
		await symlink(script, join(bin, "pi"));
		const resolveFrom = join(folder.path, "..", "elsewhere.js");
		expect(locatePi({ ...NOWHERE, env: { PATH: bin }, resolveFrom })).toEqual({
			command: NODE,
			args: [script],
			foundBy: "path",
			version: "9.8.7",
		});
	});

	test("on PATH a program is run as it is", async () => {
		await using folder = await tempFolder();
		const name = process.platform === "win32" ? "pi.exe" : "pi";
		const program = await put(join(folder.path, "bin", name));
		expect(locatePi({ ...NOWHERE, env: { PATH: dirname(program) } })).toMatchObject({
			command: program,
			args: [],
			foundBy: "path",
		});
	});

	test("nowhere, it says what to do", () => {
		expect(() => locatePi(NOWHERE)).toThrow(PiNotFoundError);
		expect(() => locatePi(NOWHERE)).toThrow(
			"pi was not found. Install it (npm install -g @earendil-works/pi-coding-agent), or name it with --pi <path> or PI_FLIGHTDECK_PI.",
		);
	});

	test("a broken package.json costs the version only", async () => {
		await using folder = await tempFolder();
		const { dir, script } = await putPackage(folder.path);
		await put(join(dir, "package.json"), "{");
		expect(locatePi({ ...NOWHERE, host: { packageDir: dir, script } })).toEqual({
			command: NODE,
			args: [script],
			foundBy: "running",
			version: undefined,
		});
	});
});
