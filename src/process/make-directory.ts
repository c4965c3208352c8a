import { mkdirSync, statSync } from "node:fs";
import { dirname } from "node:path";

/** Only for its owner. */
const PRIVATE_MODE = 0o700;

/**
 * Makes a directory and those above it that are missing, all with mode 0700. Not Node's own recursive form: below a file
 * system that refuses new entries with ENOENT, like /proc, that one never ends (seen with Node.js 24).
 * @throws the system's error when one cannot be made, or when a file is in the way (EEXIST, ENOTDIR)
 */
export function makeDirectory(path: string): void {
	if (statSync(path, { throwIfNoEntry: false })?.isDirectory()) return;
	if (dirname(path) !== path) makeDirectory(dirname(path));
	try {
		mkdirSync(path, { mode: PRIVATE_MODE });
	} catch (error) {
		// Somebody else may have made it in the meantime.
		if (!statSync(path, { throwIfNoEntry: false })?.isDirectory()) throw error;
	}
}
