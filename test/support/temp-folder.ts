import { mkdtemp, realpath, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** An empty folder. It is removed with `await using`. */
export async function tempFolder() {
	const path = await realpath(await mkdtemp(join(tmpdir(), "flightdeck-test-")));
	return { path, [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true, maxRetries: 3 }) };
}
