/**
 * A parent of guarded children, as its own process: `node guardian-parent.ts <plan as JSON>`.
 * It prints one line of JSON, `{ guardian, children }` (pids), once the guardian holds the list.
 */
import { spawn } from "node:child_process";
import { Guardian } from "../../src/process/guardian.ts";
import type { ProcessMarker } from "../../src/process/process-table.ts";

export interface ParentPlan {
	readonly children: readonly { readonly script: string; readonly register: boolean }[];
	/** Given to every child; told to the guardian for those that are registered. */
	readonly marker: ProcessMarker;
	/** `wait`: live on. `exit`: `process.exit()`. `return`: do nothing more. */
	readonly finally: "wait" | "exit" | "return";
}

export interface ParentReport {
	readonly guardian: number;
	readonly children: readonly number[];
}

const plan = JSON.parse(process.argv[2] ?? "") as ParentPlan;
const guardian = new Guardian();
const children = plan.children.map(({ script, register }) => {
	const child = spawn("sh", ["-c", script], {
		detached: true,
		stdio: "ignore",
		env: { ...process.env, [plan.marker.name]: plan.marker.value },
	});
	child.unref();
	const pid = child.pid ?? 0;
	if (register) guardian.register({ pid, marker: plan.marker });
	return pid;
});
const report: ParentReport = { guardian: guardian.pid ?? 0, children };
process.stdout.write(`${JSON.stringify(report)}\n`, () => {
	if (plan.finally === "exit") process.exit(0);
	if (plan.finally === "wait") setInterval(() => undefined, 1000);
});
