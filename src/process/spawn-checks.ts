import { accessSync, constants, type Stats, statSync } from "node:fs";
import { delimiter, extname, isAbsolute, join } from "node:path";

/** What is about to be spawned, before any default of the system is applied. */
export interface SpawnRequest {
	/** A path, or a name to be found on PATH. */
	readonly command: string;
	readonly args: readonly string[];
	readonly cwd: string;
	readonly env: NodeJS.ProcessEnv;
}

/** A child that could not be started, and what to do about it. */
export class SpawnCheckError extends Error {
	override readonly name = "SpawnCheckError";
}

/**
 * Longest single argument or variable on Linux: 32 pages of 4 KiB, the closing NUL included (MAX_ARG_STRLEN, execve(2)).
 * Measured: 131,071 bytes pass, 131,072 fail with E2BIG.
 */
const LINUX_MAX_STRING_BYTES = 131_072;
/** All arguments and the environment together: 1 MiB on macOS (ARG_MAX); Linux allows a quarter of an 8 MiB stack. */
const MAX_TOTAL_BYTES: Partial<Record<NodeJS.Platform, number>> = { darwin: 1_048_576, linux: 2_097_152 };
/** Longest command line of CreateProcess, in UTF-16 units, the closing NUL included. */
const WINDOWS_MAX_COMMAND_LINE = 32_767;

/**
 * Looks whether a spawn can succeed and says what to do where it can't. Node reports these cases late, as bare codes, or by
 * throwing from `spawn` itself; and ENOENT names the command even when it is the working directory that is missing.
 * @throws SpawnCheckError
 */
export function checkSpawn(request: SpawnRequest, platform: NodeJS.Platform = process.platform): void {
	checkNul(request);
	checkDirectory(request.cwd);
	checkCommand(request, platform);
	checkSizes(request, platform);
}

function checkDirectory(cwd: string): void {
	const stats = statsOf(cwd);
	if (!stats)
		throw new SpawnCheckError(`The working directory ${cwd} does not exist. Give an existing directory as cwd.`);
	if (!stats.isDirectory()) throw new SpawnCheckError(`The working directory ${cwd} is not a directory.`);
	try {
		accessSync(cwd, constants.X_OK);
	} catch {
		// Why it is not accessible (owner, mode, mount) is for the user to see; the fact is the message.
		throw new SpawnCheckError(`The working directory ${cwd} cannot be entered: permission denied.`);
	}
}

function checkNul({ command, args, cwd, env }: SpawnRequest): void {
	if (cwd.includes("\0"))
		throw new SpawnCheckError(
			`The working directory ${cwd.replaceAll("\0", "\\0")} contains a NUL character. Remove it.`,
		);
	const index = [command, ...args].findIndex((argument) => argument.includes("\0"));
	if (index >= 0)
		throw new SpawnCheckError(
			`Argument ${index} of ${command.replaceAll("\0", "\\0")} contains a NUL character. Remove it, or hand the text over by file or stdin.`,
		);
	const name = Object.keys(env).find((key) => key.includes("\0") || env[key]?.includes("\0"));
	if (name !== undefined)
		throw new SpawnCheckError(
			`The environment variable ${name.replaceAll("\0", "\\0")} contains a NUL character. Unset it.`,
		);
}

function checkCommand({ command, cwd, env }: SpawnRequest, platform: NodeJS.Platform): void {
	if (/[/\\]/.test(command)) {
		const path = isAbsolute(command) ? command : join(cwd, command);
		const stats = statsOf(path);
		if (!stats) throw new SpawnCheckError(`The program ${command} does not exist. Check the path, or reinstall it.`);
		if (!stats.isFile()) throw new SpawnCheckError(`The program ${command} is not a file.`);
		if (!isExecutable(path, platform))
			throw new SpawnCheckError(`The program ${command} is not executable. Run: chmod +x ${command}`);
		return;
	}
	if (!findOnPath(command, env, platform))
		throw new SpawnCheckError(`The program ${command} was not found on PATH. Install it, or give its full path.`);
}

/** The full path of a program on PATH, undefined if there is none. On Windows only `.exe` and `.com` count: others need a shell. */
export function findOnPath(
	command: string,
	env: NodeJS.ProcessEnv = process.env,
	platform: NodeJS.Platform = process.platform,
): string | undefined {
	const path = env.PATH ?? env.Path ?? "";
	const names = platform === "win32" && !extname(command) ? [`${command}.exe`, `${command}.com`] : [command];
	for (const folder of path.split(delimiter).filter(isAbsolute))
		for (const name of names) {
			const candidate = join(folder, name);
			if (statsOf(candidate)?.isFile() && isExecutable(candidate, platform)) return candidate;
		}
	return undefined;
}

/** What is at a path; undefined where nothing can be found. */
function statsOf(path: string): Stats | undefined {
	try {
		return statSync(path, { throwIfNoEntry: false });
	} catch {
		// Behind a closed directory, in a circle of links, or too long a name: for us it is not there.
		return undefined;
	}
}

function isExecutable(path: string, platform: NodeJS.Platform): boolean {
	if (platform === "win32") return true;
	try {
		accessSync(path, constants.X_OK);
		return true;
	} catch {
		// Not executable is the answer, not a fault.
		return false;
	}
}

function checkSizes({ command, args, env }: SpawnRequest, platform: NodeJS.Platform): void {
	if (platform === "win32") {
		// Quoting at worst doubles backslashes and quotes and adds two quotes and a space.
		const length = [command, ...args].reduce(
			(sum, text) => sum + text.length + 3 + (text.match(/["\\]/g)?.length ?? 0),
			1,
		);
		if (length > WINDOWS_MAX_COMMAND_LINE)
			throw new SpawnCheckError(
				`The command line has ${length} characters; Windows allows ${WINDOWS_MAX_COMMAND_LINE}. Hand long text over by file or stdin.`,
			);
		return;
	}
	const variables = Object.entries(env).filter((entry): entry is [string, string] => entry[1] !== undefined);
	const strings = [
		...args.map((text, index) => ({ what: `Argument ${index + 1}`, bytes: Buffer.byteLength(text) + 1 })),
		...variables.map(([name, value]) => ({
			what: `The environment variable ${name}`,
			bytes: Buffer.byteLength(name) + Buffer.byteLength(value) + 2,
		})),
	];
	const tooLong = platform === "linux" ? strings.find(({ bytes }) => bytes > LINUX_MAX_STRING_BYTES) : undefined;
	if (tooLong)
		throw new SpawnCheckError(
			`${tooLong.what} has ${tooLong.bytes} bytes; Linux allows ${LINUX_MAX_STRING_BYTES}. Hand long text over by file or stdin.`,
		);
	const total = strings.reduce((sum, { bytes }) => sum + bytes + 8, Buffer.byteLength(command) + 1);
	const limit = MAX_TOTAL_BYTES[platform];
	if (limit !== undefined && total > limit)
		throw new SpawnCheckError(
			`Arguments and environment have ${total} bytes together; this system allows ${limit}. Shorten the environment, or hand text over by file or stdin.`,
		);
}
