import { randomBytes } from "node:crypto";
import { open, rename, rm } from "node:fs/promises";
import { setTimeout as delay } from "node:timers/promises";

/** How often a rename is tried again, and how long is waited before, in milliseconds: virus scanners hold files for a moment. */
const RENAME_DELAYS_MS = [20, 60, 200];

/**
 * Replaces a file so that a reader sees the old content or the new one, also after a crash: written beside it, flushed,
 * renamed. Mode 0600.
 * @throws the system's error when it cannot be written; the old content is still there then
 */
export async function writeAtomically(path: string, content: string): Promise<void> {
	const temporary = `${path}.${randomBytes(6).toString("hex")}.tmp`;
	try {
		const file = await open(temporary, "wx", 0o600);
		try {
			await file.writeFile(content);
			await file.sync();
		} finally {
			await file.close();
		}
		await renameWithRetries(temporary, path);
	} catch (error) {
		await rm(temporary, { force: true });
		throw error;
	}
}

async function renameWithRetries(from: string, to: string): Promise<void> {
	for (const wait of [...RENAME_DELAYS_MS, undefined]) {
		try {
			await rename(from, to);
			return;
		} catch (error) {
			const busy = error instanceof Error && "code" in error && (error.code === "EPERM" || error.code === "EBUSY");
			if (!busy || wait === undefined) throw error;
			await delay(wait * (0.5 + Math.random()));
		}
	}
}
