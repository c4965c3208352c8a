// What wrapping a child costs over a plain spawn: CPU of this process per child, the two taking turns.
import { spawn } from "node:child_process";
import { ManagedProcessFactory, OutputHandlerRegistry } from "../../dist/process.js";

const children = Number(process.argv[2] ?? 200);
const factory = new ManagedProcessFactory(new OutputHandlerRegistry());
const start = () => spawn("true", [], { stdio: ["ignore", "pipe", "pipe"], detached: true });
const ways = {
	plain: () => new Promise((resolve) => drained(start()).on("close", resolve)),
	managed: () => factory.create(start(), { label: "true" }).settled,
};
const cost = { plain: [], managed: [] };
for (let i = 0; i < 20; i++) for (const way of Object.values(ways)) await way();
for (let i = 0; i < children; i++)
	for (const [name, way] of Object.entries(ways)) {
		const before = process.cpuUsage();
		await way();
		const { user, system } = process.cpuUsage(before);
		cost[name].push((user + system) / 1000);
	}
const median = (values) => values.sort((a, b) => a - b)[Math.floor(values.length / 2)];
console.log(JSON.stringify({ children, plainMs: median(cost.plain), managedMs: median(cost.managed) }));

function drained(child) {
	child.stdout.resume();
	child.stderr.resume();
	return child;
}
