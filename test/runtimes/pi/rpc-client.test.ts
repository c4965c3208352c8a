import { spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import { afterEach, describe, expect, test } from "vitest";
import type { ChildEvent } from "../../../src/events/agent-event.ts";
import { ManagedProcessFactory, OperationError, OutputHandlerRegistry } from "../../../src/process/index.ts";
import { PI_LABEL, piEventsHandlerFactory } from "../../../src/runtimes/pi/events-handler.ts";
import { RpcClient, RpcError } from "../../../src/runtimes/pi/rpc-client.ts";

const CHILD = fileURLToPath(new URL("../../support/speak-rpc.mjs", import.meta.url));

const endings: (() => Promise<unknown>)[] = [];
afterEach(async () => {
	await Promise.all(endings.splice(0).map((end) => end()));
});

function start() {
	const registry = new OutputHandlerRegistry<ChildEvent>();
	registry.registerFactory(piEventsHandlerFactory);
	const child = spawn(process.execPath, [CHILD], { stdio: "pipe" });
	const managed = new ManagedProcessFactory(registry).create(child, { label: PI_LABEL });
	const client = new RpcClient(managed, child.stdin);
	endings.push(() => {
		managed.kill("SIGKILL");
		return managed.settled;
	});
	return { client, managed };
}

describe("a request", () => {
	test("is sent with an id of its own and its parameters, and answered", async () => {
		const { client } = start();
		const [one, two] = await Promise.all([
			client.request({ type: "echo", text: "a\u2028b\nc" }),
			client.request({ type: "echo", text: "\u{1f600}" }),
		]);
		expect(one.data).toMatchObject({ type: "echo", text: "a\u2028b\nc" });
		expect(two.data).toMatchObject({ type: "echo", text: "\u{1f600}" });
		expect(one.id).not.toBe(two.id);
	});

	test("gets its own answer, in whatever order they come", async () => {
		const { client } = start();
		const first = client.request({ type: "hold", what: "first" });
		const second = client.request({ type: "hold", what: "second" });
		await client.request({ type: "flush" });
		expect([(await first).data, (await second).data]).toEqual(["first", "second"]);
	});

	test("is not confused by answers to nobody or a second answer", async () => {
		const { client } = start();
		expect((await client.request({ type: "confuse" })).data).toBe("right");
		expect((await client.request({ type: "echo", n: 1 })).data).toMatchObject({ n: 1 });
	});

	test("that is refused rejects with the child's words, and others go on", async () => {
		const { client } = start();
		const refused = client.request({ type: "refuse", why: "not now" });
		await expect(refused).rejects.toThrow(RpcError);
		await expect(refused).rejects.toThrow("not now");
		await expect(client.request({ type: "refuse" })).rejects.toThrow("refuse was refused without a reason");
		expect((await client.request({ type: "echo" })).success).toBe(true);
	});

	test("that takes long is reported, and waited for", async () => {
		const { client, managed } = start();
		await client.request({ type: "echo" });
		const timeout = Promise.withResolvers<string>();
		managed.on("lifecycle", ({ type, operation }) => {
			if (type === "response_timeout") timeout.resolve(operation?.type ?? "");
		});
		const slow = client.request({ type: "hold", what: "late" }, 20);
		expect(await timeout.promise).toBe("rpc hold");
		await client.request({ type: "flush" });
		expect((await slow).data).toBe("late");
	});
});

describe("a child that ends with a request open", () => {
	test("by an error rejects it with that error", async () => {
		const { client, managed } = start();
		const open = client.request({ type: "hold" });
		// Its rejection is looked at below.
		open.catch(() => undefined);
		const dying = client.request({ type: "die", code: 3 });
		await expect(dying).rejects.toThrow(OperationError);
		await expect(open).rejects.toThrow(
			/^rpc hold did not finish after \d+ ms: process exited with code 3: about to die$/,
		);
		expect((await managed.settled).code).toBe(3);
	});

	test("as if all were well rejects it too", async () => {
		const { client } = start();
		await expect(client.request({ type: "die", code: 0 })).rejects.toThrow(
			/^rpc die did not finish after \d+ ms: the process ended without an answer$/,
		);
	});

	test("rejects what is asked afterwards", async () => {
		const { client, managed } = start();
		await client.request({ type: "die", code: 3 }).catch(() => undefined);
		await managed.settled;
		await expect(client.request({ type: "echo" })).rejects.toThrow(OperationError);
	});
});

describe("a dialog", () => {
	test.each(["select", "confirm", "input", "editor"])("of kind %s is cancelled, and its title kept", async (method) => {
		const { client } = start();
		const { data } = await client.request({ type: "ask", method, title: "Sure?" });
		expect(data).toEqual({ type: "extension_ui_response", id: "ui-1", cancelled: true });
		expect(client.deniedDialogs).toEqual(["Sure?"]);
	});

	test("without a title is known by its kind", async () => {
		const { client } = start();
		await client.request({ type: "ask", method: "input" });
		expect(client.deniedDialogs).toEqual(["input"]);
	});

	test("what is only shown needs no answer", async () => {
		const { client } = start();
		expect((await client.request({ type: "ask", method: "notify", title: "hi" })).data).toBe("only shown");
		expect(client.deniedDialogs).toEqual([]);
	});
});

describe("the input", () => {
	test("closed tells the child to exit", async () => {
		const { client, managed } = start();
		await client.request({ type: "echo" });
		client.close();
		client.close();
		expect(await managed.settled).toMatchObject({ code: 0, signal: null, forcedExit: false });
		client.dispose();
	});

	test("after dispose nothing is answered or denied any more", async () => {
		const { client, managed } = start();
		await client.request({ type: "echo" });
		const open = client.request({ type: "hold" });
		client.dispose();
		await expect(open).rejects.toThrow("the process ended without an answer");
		expect((await managed.settled).code).toBe(0);
	});

	test.runIf(process.platform !== "win32")("broken is remembered and throws nothing", async () => {
		const { client, managed } = start();
		await client.request({ type: "deafen" });
		// Larger than any pipe, so that the write cannot succeed before the other end is gone.
		const lost = client.request({ type: "echo", text: "x".repeat(1_000_000) });
		lost.catch(() => undefined);
		await expect.poll(() => client.stdinError).toMatch(/EPIPE|ECONNRESET/);
		managed.kill("SIGKILL");
		await expect(lost).rejects.toThrow(OperationError);
	});
});
