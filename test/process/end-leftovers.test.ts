import { randomUUID } from "node:crypto";
import { expect, test } from "vitest";
import { createProcessTable } from "../../src/process/index.ts";
import { startChild } from "./started-child.ts";

const table = createProcessTable();

test("A2: what a killed child left running is ended when asked, in its group and in groups of their own", async ({
	skip,
}) => {
	skip(process.platform !== "linux", "the marker is found in /proc");
	const envMarker = { name: "FLIGHTDECK_TEST_LEFTOVERS", value: randomUUID() };
	const { managed, lines } = startChild("leader-of-stubborn.mjs", { envMarker });
	await expect.poll(() => lines.length, { timeout: 20_000 }).toBe(2);
	const family = lines.map((line) => Number(line.split(" ")[1]));
	expect(await managed.endLeftovers()).toEqual([]);
	expect(managed.kill("SIGKILL")).toBe(true);
	await managed.settled;
	expect(await managed.endLeftovers(300)).toEqual([]);
	for (const pid of family) {
		const entry = await table.find(pid);
		expect(entry === undefined || entry.zombie).toBe(true);
	}
});
