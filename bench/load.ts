// What loading the extension adds to the start of pi, against a trivial extension of one file, in one run.
// Also measures the forms that were not chosen: the sources, and one bundle that pi's loader transforms.
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { createAgentDirectory } from "../support/agent-directory.ts";
import { runPi } from "../support/run-pi.ts";
import { formatTable, median, spread } from "./statistics.ts";

/** What may be added to the start, in milliseconds. */
const TARGET_MS = { warm: 80, cold: 500 };
const ROUNDS = Number(process.env.BENCH_ROUNDS ?? 9);

const root = fileURLToPath(new URL("..", import.meta.url));
const directory = await createAgentDirectory({});
const scratch = await mkdtemp(join(tmpdir(), "flightdeck-bench-"));
const env = { ...directory.env, TMPDIR: scratch };

const trivial = join(scratch, "trivial.ts");
const bundle = join(scratch, "bundle.js");
await writeFile(trivial, 'export default (pi) => pi.on("session_start", () => undefined);\n');
await build({
	entryPoints: [join(root, "src/extension/index.ts")],
	outfile: bundle,
	bundle: true,
	platform: "node",
	format: "esm",
	external: ["@earendil-works/*", "typebox"],
});

const forms = {
	trivial,
	published: join(root, "dist", "extension.ts"),
	"one bundle, transformed": bundle,
	sources: join(root, "src", "extension", "index.ts"),
};
type Form = keyof typeof forms;
const names = Object.keys(forms) as Form[];

try {
	const results = { warm: await measure("warm"), cold: await measure("cold") };
	const rows = names.map((name) => [name, ...cells(results.warm, name), ...cells(results.cold, name)]);
	console.log(formatTable([["extension", "warm ms", "added", "cold ms", "added"], ...rows]));
	const verdicts = (["warm", "cold"] as const).map((state) => verdict(state, results[state]));
	for (const { text } of verdicts) console.log(text);
	process.exitCode = verdicts.some(({ failed }) => failed) ? 1 : 0;
} finally {
	await rm(scratch, { recursive: true, force: true });
	await directory.cleanup();
}

type Times = Record<Form, number[]>;

/** Forms take turns, so that a busy spell of the machine meets all of them. */
async function measure(state: "warm" | "cold"): Promise<Times> {
	const times = Object.fromEntries(names.map((name) => [name, [] as number[]])) as Times;
	for (const name of names) await start(name);
	for (let round = 0; round < ROUNDS; round++)
		for (const name of names) {
			// pi keeps what its loader has transformed here; its own compile cache beside it stays.
			if (state === "cold") await rm(join(scratch, "jiti"), { recursive: true, force: true });
			times[name].push(await start(name));
		}
	return times;
}

/** From the spawn of pi to its exit, with a session started in between, in milliseconds. */
async function start(name: Form): Promise<number> {
	const args = ["--mode", "rpc", "--no-session", "-ne", "-e", forms[name]];
	const run = await runPi({ args, env, cwd: directory.cwd, input: '{"id":"1","type":"get_state"}\n' });
	if (run.code !== 0 || !run.stdout.includes('"success":true')) throw new Error(`pi did not start: ${run.stderr}`);
	return run.durationMs;
}

function cells(times: Times, name: Form): string[] {
	const added = median(times[name]) - median(times.trivial);
	return [median(times[name]).toFixed(0), name === "trivial" ? "" : `${added >= 0 ? "+" : ""}${added.toFixed(0)}`];
}

function verdict(state: "warm" | "cold", times: Times): { text: string; failed: boolean } {
	const added = median(times.published) - median(times.trivial);
	const noise = spread(times.trivial);
	const target = TARGET_MS[state];
	if (noise > target)
		return { text: `${state}: void, the trivial extension alone varies by ${noise.toFixed(0)} ms`, failed: false };
	const failed = added > target;
	return {
		text: `${state}: +${added.toFixed(0)} ms, target +${target} ms, noise ${noise.toFixed(0)} ms: ${failed ? "MISSED" : "met"}`,
		failed,
	};
}
