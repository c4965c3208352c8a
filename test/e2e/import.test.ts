import { spawn } from "node:child_process";
import { once } from "node:events";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

const probe = fileURLToPath(new URL("../support/e2e-import-probe.ts", import.meta.url));

test.each(["src/extension/index.ts", "dist/extension.cjs"])(
	"importing %s and calling it starts nothing",
	async (file) => {
		const child = spawn(process.execPath, [probe, file], { stdio: ["ignore", "pipe", "pipe"] });
		const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr), once(child, "close")]);

		expect(stderr).toBe("");
		// It ended by itself: nothing kept it alive.
		expect(child).toMatchObject({ exitCode: 0, signalCode: null });
		expect(JSON.parse(stdout)).toEqual({
			resources: [],
			created: [],
			handlersAdded: [],
			childProcesses: [],
			subscribed: ["session_shutdown", "session_start"],
			registered: [],
		});
	},
);
