import { existsSync, readFileSync, realpathSync, statSync } from "node:fs";
import { findPackageJSON } from "node:module";
import { basename, dirname, extname, join, resolve, sep } from "node:path";
import { findOnPath } from "../../process/index.ts";

/** The program that a pi child is started with. */
export interface PiProgram {
	readonly command: string;
	/** Arguments before pi's own. */
	readonly args: readonly string[];
	/** Which of the ways below found it. */
	readonly foundBy: "override" | "running" | "package" | "path";
	/** From its package.json; undefined where there is none, as with a compiled binary. */
	readonly version: string | undefined;
}

/** What there is to find pi by. */
export interface PiClues {
	/** A path that the user gave. */
	readonly override?: string | undefined;
	/** The pi that runs us, when we are its extension. */
	readonly host?: { readonly packageDir: string; readonly script: string | undefined } | undefined;
	/** A file or folder whose installed packages are looked at. */
	readonly resolveFrom?: string | undefined;
	readonly env?: NodeJS.ProcessEnv | undefined;
	readonly execPath?: string | undefined;
	readonly platform?: NodeJS.Platform | undefined;
}

/** pi was not found, and what to do about it. */
export class PiNotFoundError extends Error {
	override readonly name = "PiNotFoundError";
}

export const PI_OVERRIDE_VARIABLE = "PI_FLIGHTDECK_PI";
const PI_PACKAGE = "@earendil-works/pi-coding-agent";
/** The entry that its package.json names as `bin`; loading the unbundled one takes twice as long. */
const PI_SCRIPT = join("dist", "bundle", "cli.js");

/**
 * Finds the pi to run children with: the one the user named, the one we run in, the one installed as our peer, the one on
 * PATH. Inside pi a stranger from PATH is never used.
 * @throws PiNotFoundError
 */
export function locatePi(clues: PiClues): PiProgram {
	const { env = process.env, execPath = process.execPath, platform = process.platform } = clues;
	const override = clues.override || env[PI_OVERRIDE_VARIABLE];
	if (override) return fromOverride(override, execPath);
	if (clues.host) return fromHost(clues.host, execPath);
	const packageDir = clues.resolveFrom && findPackageDir(clues.resolveFrom);
	if (packageDir) return fromPackage(packageDir, "package", execPath);
	const onPath = findOnPath("pi", env, platform);
	if (onPath) return { ...fromFile(onPath, execPath), foundBy: "path" };
	throw new PiNotFoundError(
		`pi was not found. Install it (npm install -g ${PI_PACKAGE}), or name it with --pi <path> or ${PI_OVERRIDE_VARIABLE}.`,
	);
}

function fromOverride(given: string, execPath: string): PiProgram {
	// A name without a slash would be looked up on PATH when it is spawned.
	const path = resolve(given);
	if (!isFile(path))
		throw new PiNotFoundError(`${path} is no file. --pi and ${PI_OVERRIDE_VARIABLE} take the path of the pi program.`);
	return { ...fromFile(path, execPath), foundBy: "override" };
}

function fromHost({ packageDir, script }: NonNullable<PiClues["host"]>, execPath: string): PiProgram {
	// A compiled pi is its own program, and its script lies in a file system inside of it.
	if (!/^(node|bun)(\.exe)?$/i.test(basename(execPath)))
		return { command: execPath, args: [], foundBy: "running", version: versionIn(packageDir) };
	if (script && isInside(script, packageDir))
		return { command: execPath, args: [script], foundBy: "running", version: versionIn(packageDir) };
	// pi is embedded in another program: its package has the command beside the library.
	return fromPackage(packageDir, "running", execPath);
}

function fromPackage(packageDir: string, foundBy: "running" | "package", execPath: string): PiProgram {
	const script = join(packageDir, PI_SCRIPT);
	if (!existsSync(script))
		throw new PiNotFoundError(
			`pi ${versionIn(packageDir) ?? ""} in ${packageDir} has no ${PI_SCRIPT}: it is too old, or incomplete. Install a newer one.`,
		);
	return { command: execPath, args: [script], foundBy, version: versionIn(packageDir) };
}

/** A script is run by the Node that runs us: a shebang would take whatever `node` is first on PATH. */
function fromFile(path: string, execPath: string): Omit<PiProgram, "foundBy"> {
	const real = realpathSync(path);
	const packageJson = findPackageJSON("..", real);
	const version = packageJson === undefined ? undefined : versionIn(dirname(packageJson));
	if (/^\.[cm]?js$/.test(extname(real))) return { command: execPath, args: [real], version };
	return { command: path, args: [], version };
}

function isFile(path: string): boolean {
	try {
		return statSync(path).isFile();
	} catch {
		// Missing, unreadable, a loop of links: no file to run, whatever the reason.
		return false;
	}
}

function findPackageDir(from: string): string | undefined {
	try {
		const packageJson = findPackageJSON(PI_PACKAGE, from);
		return packageJson === undefined ? undefined : dirname(packageJson);
	} catch {
		// Not installed there is an answer; the next way is tried.
		return undefined;
	}
}

function isInside(file: string, folder: string): boolean {
	if (!existsSync(file)) return false;
	return realpathSync(file).startsWith(realpathSync(folder) + sep);
}

/** The version of a pi package; undefined if the folder holds none. */
function versionIn(packageDir: string): string | undefined {
	try {
		const manifest: unknown = JSON.parse(readFileSync(join(packageDir, "package.json"), "utf8"));
		return typeof manifest === "object" && manifest !== null && "version" in manifest
			? String(manifest.version)
			: undefined;
	} catch {
		// The version is for the record alone: a run does without.
		return undefined;
	}
}
