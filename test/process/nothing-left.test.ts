import { readdirSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { endAfterTest, startChild, temporaryDirectory, until } from "./started-child.ts";

/** How often each kind of thing keeps this program alive. */
function activeResources(): Record<string, number> {
	const groups = Object.groupBy(process.getActiveResourcesInfo(), (name) => name);
	return Object.fromEntries(Object.entries(groups).map(([name, all]) => [name, all?.length ?? 0]));
}

function openDescriptors(): number {
	return readdirSync("/proc/self/fd").length;
}

function listeners(): Record<string, number> {
	return Object.fromEntries(process.eventNames().map((name) => [String(name), process.listenerCount(name)]));
}

describe("nothing keeps a program alive", () => {
	it("invariant 10: an import starts no timer, watcher, process or signal handler", async () => {
		const { managed, lines } = startChild("run-one-and-end.mjs", { args: ["import"] });
		expect(await managed.settled).toMatchObject({ code: 0, signal: null, stderrTail: "" });
		const { imported, before } = JSON.parse(lines[0] ?? "");
		expect(imported).toEqual({ left: [], listeners: before });
	});

	it("invariant 6: a program that watched a child, with a log and an open operation, ends by itself", async () => {
		const { managed, lines } = startChild("run-one-and-end.mjs", { args: ["run", temporaryDirectory()] });
		await until("its report", () => lines.length > 0);
		const reported = performance.now();
		// It ends by itself: a timer left would be one of 500 ms at least, an open operation one of ten minutes.
		expect(await managed.settled).toMatchObject({
			code: 0,
			signal: null,
			forcedExit: false,
			leftovers: [],
			stderrTail: "",
		});
		expect(performance.now() - reported).toBeLessThan(10_000);
		const report = JSON.parse(lines[0] ?? "");
		expect(report.lines).toEqual(["logged", "ready"]);
		expect(report.left).toEqual([]);
		expect(report.after).toEqual(report.before);
	});

	it("invariant 6: 50 children of all kinds leave no timer, descriptor, listener or handle", async () => {
		const kinds: [string, string[]][] = [
			["say.sh", []],
			["exit-code.sh", ["3"]],
			["kill-self.sh", ["KILL"]],
			["hold-stdout.sh", ["1000"]],
			["wait-forever.sh", []],
		];
		const round = async (count: number) => {
			const children = Array.from({ length: count }, (_, i) => {
				const [script, args] = kinds[i % kinds.length] ?? ["say.sh", []];
				const path = temporaryDirectory();
				const logSources = [{ name: "log", type: "directory", path } as const];
				return {
					script,
					...startChild(script, { args, logSources, drain: { idleMs: 50 }, ladder: { graceMs: 5000 } }),
				};
			});
			for (const { script, managed } of children) if (script === "wait-forever.sh") void managed.stop("test");
			const outcomes = await Promise.all(children.map(({ managed }) => managed.settled));
			for (const pid of outcomes.flatMap(({ leftovers }) => leftovers)) endAfterTest(pid);
			for (const { child } of children) {
				expect(child.stdout?.destroyed).toBe(true);
				expect(child.stderr?.destroyed).toBe(true);
			}
			return outcomes;
		};
		await round(5); // What is made once, by node as well, is made now.
		const before = { resources: activeResources(), descriptors: openDescriptors(), listeners: listeners() };
		const outcomes = await round(50);
		expect(outcomes.filter(({ streams }) => streams === "held")).toHaveLength(10);
		const rest = () => ({ resources: activeResources(), descriptors: openDescriptors(), listeners: listeners() });
		// Closing a handle takes node a turn of the loop; the poll of this wait is a timer of its own.
		const more = () => {
			const { resources, descriptors } = rest();
			const grown = Object.keys(resources).filter(
				(name) => name !== "Timeout" && (resources[name] ?? 0) > (before.resources[name] ?? 0),
			);
			return [...grown, ...(descriptors > before.descriptors ? ["descriptors"] : [])];
		};
		await until("everything closed", () => more().length === 0, 10_000).catch(() => undefined);
		expect(more()).toEqual([]);
		expect(rest().resources.Timeout ?? 0).toBeLessThanOrEqual(before.resources.Timeout ?? 0);
		expect(rest().listeners).toEqual(before.listeners);
	}, 60_000);
});
