import { expect, test } from "vitest";
import { flightdeck } from "../support/e2e-command.ts";
import { fencedOutput, onlyResult, parentTotals, runParent, servedIn } from "../support/e2e-parent.ts";
import { expectEnded, onlyRun, usageOf } from "../support/e2e-records.ts";
import { bash, child, createScene, parent } from "../support/e2e-scene.ts";

const UNAUTHORIZED = { status: 401, body: { error: { message: "No such key: mock", type: "invalid_request_error" } } };

test("B7: 401 fails at once, with the provider's words", async () => {
	const scene = await createScene([parent({ task: "Go" }), child([UNAUTHORIZED])]);

	const run = await runParent(scene);

	const result = onlyResult(run.results);
	expect(result.isError).toBe(true);
	expect(result.text).toContain("failed (provider-error)");
	expect(result.text).toContain("No such key: mock");
	const stored = await onlyRun(scene);
	await expectEnded(stored, { status: "failed", exitPath: "provider-error" });
	expect(stored.manifest.reason).toContain("401");
	expect(stored.result).toBeUndefined();
	expect(stored.manifest.counters.retries).toBe(0);
	// The parent goes on: its model reads the error and answers.
	expect(run.code).toBe(0);
	expect(parentTotals(run.records)).toMatchObject(servedIn(scene, "parent"));
	expect(scene.server.unexpected()).toEqual([]);
});

test("401 after work that was done keeps what that work cost", async () => {
	const scene = await createScene([parent({ task: "Go" }), child([bash("echo paid"), UNAUTHORIZED])]);

	const run = await runParent(scene);

	const stored = await onlyRun(scene);
	await expectEnded(stored, { status: "failed", exitPath: "provider-error" });
	expect(usageOf(stored.manifest)).toEqual({ input: 100, output: 10, cacheRead: 0 });
	expect(onlyResult(run.results).usage).toMatchObject({ input: 100, output: 10 });
	const { cost: _cost, ...tokens } = scene.server.served();
	expect(parentTotals(run.records)).toMatchObject(tokens);
});

test("500 until the retries are used up", async () => {
	const scene = await createScene([parent({ task: "Go" }), child([{ status: 500, times: 4 }])]);

	const result = onlyResult((await runParent(scene)).results);

	expect(result.isError).toBe(true);
	expect(result.text).toContain("failed (provider-error)");
	expect(result.text).toContain("Scripted error 500");
	const stored = await onlyRun(scene);
	await expectEnded(stored, { status: "failed", exitPath: "provider-error" });
	expect(stored.manifest.counters.retries).toBe(3);
	expect(stored.journal.filter(({ type }) => type === "auto_retry_start")).toHaveLength(3);
	expect(scene.server.requests().filter(({ conversation }) => conversation === "child")).toHaveLength(4);
	expect(scene.server.unexpected()).toEqual([]);
});

test("B6, B11: 500 twice, then an answer", async () => {
	const scene = await createScene([parent({ task: "Go" }), child([{ status: 500, times: 2 }, { text: "at last" }])]);

	const run = await runParent(scene);

	const result = onlyResult(run.results);
	expect(result.isError).toBe(false);
	expect(fencedOutput(result.text)).toBe("at last");
	const stored = await onlyRun(scene);
	await expectEnded(stored, { status: "completed", exitPath: "done" });
	expect(stored.manifest).toMatchObject({ counters: { retries: 2 }, warnings: [] });
	const { cost: _cost, ...tokens } = scene.server.served();
	expect(parentTotals(run.records)).toMatchObject(tokens);
	expect(scene.server.unexpected()).toEqual([]);
});

test("B6: a connection that breaks in the middle of an answer is tried again", async () => {
	const broken = { text: "x".repeat(400), disconnectAfter: 100 };
	const scene = await createScene([parent({ task: "Go" }), child([broken, { text: "whole" }])]);

	const result = onlyResult((await runParent(scene)).results);

	expect(fencedOutput(result.text)).toBe("whole");
	const stored = await onlyRun(scene);
	await expectEnded(stored, { status: "completed", exitPath: "done" });
	expect(stored.result).toBe("whole");
});

test("the command says on standard error what the provider said, and exits with 1", async () => {
	const scene = await createScene([child([UNAUTHORIZED])]);

	const run = await flightdeck(scene, ["run", "worker", "Go"]);

	expect(run).toMatchObject({ code: 1, stdout: "" });
	expect(run.stderr).toMatch(/failed \(provider-error\): .*No such key: mock/);
	await expectEnded(await onlyRun(scene), { status: "failed", exitPath: "provider-error" });
});
