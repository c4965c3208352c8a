import { describe, expect, it } from "vitest";
import { OperationError } from "../../src/process/index.ts";
import { startChild, until } from "./started-child.ts";

describe("operations", () => {
	it("complete, once", async () => {
		const { managed, said } = startChild("wait-forever.sh");
		await said("ready");
		const first = managed.trackOperation("prompt");
		const second = managed.trackOperation("prompt");
		expect(first.id).not.toBe(second.id);
		expect(second.startedAt).toBeGreaterThanOrEqual(first.startedAt);
		first.complete();
		first.complete();
		expect(await first.promise).toBe("completed");
		managed.kill();
		await managed.settled;
		second.complete();
		expect(await second.promise).toBe("ended");
	});

	it("over their time are told by one response_timeout event and stay open", async () => {
		const { managed, lifecycle } = startChild("wait-forever.sh");
		const operation = managed.trackOperation("abort", { timeoutMs: 30 });
		managed.trackOperation("quick", { timeoutMs: 10_000 }).complete();
		await until("response_timeout", () => lifecycle.some(({ type }) => type === "response_timeout"));
		operation.complete();
		expect(await operation.promise).toBe("completed");
		managed.kill();
		await managed.settled;
		const timeouts = lifecycle.filter(({ type }) => type === "response_timeout");
		expect(timeouts).toMatchObject([{ operation: { id: operation.id, type: "abort" } }]);
		expect(timeouts[0]?.operation?.elapsedMs).toBeGreaterThanOrEqual(29);
	});

	it("are rejected at an unexpected end, with code, stderr, type and elapsed time", async () => {
		const { managed } = startChild("fail-with-stderr.sh", { args: ["9"] });
		const operation = managed.trackOperation("prompt", { timeoutMs: 60_000 });
		managed.trackOperation("nobody waits for this one");
		const error = await operation.promise.catch((reason: unknown) => reason);
		expect(error).toBeInstanceOf(OperationError);
		expect(error).toMatchObject({
			operationType: "prompt",
			message: expect.stringMatching(
				/^prompt did not finish after \d+ ms: process exited with code 9: first cause\nlast words$/,
			),
		});
		expect((error as OperationError).elapsedMs).toBeGreaterThan(0);
	});

	it("are rejected with the signal", async () => {
		const { managed } = startChild("kill-self.sh", { args: ["ABRT"] });
		await expect(managed.trackOperation("prompt").promise).rejects.toThrow(/prompt .* ended by signal SIGABRT/);
	});

	it.each(["exit with code 0", "kill", "stop"])("are resolved as ended at a graceful end: %s", async (end) => {
		const { managed } = end === "exit with code 0" ? startChild("say.sh") : startChild("wait-forever.sh");
		const operation = managed.trackOperation("prompt");
		if (end === "kill") managed.kill();
		if (end === "stop") void managed.stop("user");
		expect(await operation.promise).toBe("ended");
	});

	it("begun after the end are answered at once, in the same way", async () => {
		const well = startChild("say.sh").managed;
		const badly = startChild("exit-code.sh", { args: ["5"] }).managed;
		await Promise.all([well.settled, badly.settled]);
		expect(await well.trackOperation("late", { timeoutMs: 1 }).promise).toBe("ended");
		await expect(badly.trackOperation("late").promise).rejects.toThrow(/late .* code 5/);
	});
});
