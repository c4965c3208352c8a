// What is published is what is tested: packs the package, installs it into an empty folder as pi does, and uses it there.
import { execFile } from "node:child_process";
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { createAgentDirectory } from "../support/agent-directory.ts";
import { startModelServer } from "../support/model-server.ts";
import { PI_CLI, runPi } from "../support/run-pi.ts";

const run = promisify(execFile);
const root = fileURLToPath(new URL("..", import.meta.url));
const folder = await mkdtemp(join(tmpdir(), "flightdeck-pack-"));

try {
	const installed = await step("pack and install", packAndInstall);
	await step("contents", () => checkContents(installed));
	await step("types for a library user", () => checkTypes(installed));
	await step("flightdeck doctor", () => checkDoctor(installed));
	await step("pi -e: a run through the tool, and one through the command", () => checkRuns(installed));
	console.log("The package works as published.");
} finally {
	await rm(folder, { recursive: true, force: true });
}

async function step<T>(name: string, action: () => Promise<T>): Promise<T> {
	const result = await action();
	console.log(`ok  ${name}`);
	return result;
}

/** @returns the folder of the installed package */
async function packAndInstall(): Promise<string> {
	const { stdout } = await run("npm", ["pack", "--json", "--pack-destination", folder], { cwd: root });
	// Scripts of the package print before npm does; the report starts with its first bracket at the start of a line.
	const report: unknown = JSON.parse(stdout.slice(stdout.search(/^[[{]/m)));
	const [packed] = Array.isArray(report) ? report : Object.values(report as object);
	await writeFile(join(folder, "package.json"), '{ "private": true }\n');
	const flags = ["--omit=dev", "--legacy-peer-deps", "--no-audit", "--no-fund", "--ignore-scripts"];
	await run("npm", ["install", ...flags, join(folder, packed.filename)], { cwd: folder });
	return join(folder, "node_modules", "pi-flightdeck");
}

async function checkContents(installed: string): Promise<void> {
	const allowed = ["CHANGELOG.md", "LICENSE", "README.md", "agents", "dist", "package.json"];
	const entries = await readdir(installed);
	const foreign = entries.filter((name) => !allowed.includes(name));
	expect(foreign.length === 0, `the package holds files it should not: ${foreign.join(", ")}`);
	for (const name of allowed) expect(entries.includes(name), `the package lacks ${name}`);
	const modules = (await readdir(join(folder, "node_modules"))).filter((name) => !name.startsWith("."));
	expect(modules.join() === "pi-flightdeck", `other packages were installed: ${modules.join(", ")}`);
}

/** A project that uses both faces, checked by the compiler with the types as published. */
async function checkTypes(installed: string): Promise<void> {
	const source = `
		import { AgentManager, type RunResult } from "pi-flightdeck";
		import { ManagedProcessFactory, OutputHandlerRegistry, OutputSources, sourceKey } from "pi-flightdeck/process";
		export const factory = new ManagedProcessFactory(new OutputHandlerRegistry());
		export const key: string = sourceKey(OutputSources.logFile("a"));
		export const run = (manager: AgentManager, o: Parameters<AgentManager["spawnAndWait"]>[0]): Promise<RunResult> => manager.spawnAndWait(o);
	`;
	await writeFile(join(installed, "..", "..", "use.mts"), source);
	const config = {
		compilerOptions: {
			module: "nodenext",
			target: "es2024",
			strict: true,
			noEmit: true,
			skipLibCheck: true,
			types: ["node"],
			typeRoots: [join(root, "node_modules", "@types")],
		},
		files: ["use.mts"],
	};
	await writeFile(join(folder, "tsconfig.json"), JSON.stringify(config));
	await run(process.execPath, [join(root, "node_modules/typescript/lib/tsc.js"), "-p", folder]).catch((error) => {
		throw new Error(`the published types do not compile:\n${error.stdout}`);
	});
}

async function checkDoctor(installed: string): Promise<void> {
	const directory = await createAgentDirectory({});
	try {
		const args = [join(installed, "dist", "cli.js"), "doctor", "--pi", PI_CLI];
		const { stdout } = await run(process.execPath, args, { env: directory.env, cwd: directory.cwd });
		expect(stdout.includes("agents: planner, reviewer, scout, worker"), `doctor does not find the agents:\n${stdout}`);
	} finally {
		await directory.cleanup();
	}
}

async function checkRuns(installed: string): Promise<void> {
	const server = await startModelServer({
		conversations: [
			{ when: "PACKED-CHILD", answers: () => ({ text: "the child's answer" }) },
			{
				when: "PACKED-PARENT",
				answers: [
					{ toolCalls: [{ name: "subagent", args: { agent: "worker", task: "PACKED-CHILD" } }] },
					{ text: "the parent's answer" },
				],
			},
		],
	});
	const directory = await createAgentDirectory({ modelServerUrl: server.url });
	try {
		await mkdir(directory.cwd, { recursive: true });
		const tool = await runPi({ ...directory, args: ["--mode", "json", "-ne", "-e", installed, "PACKED-PARENT"] });
		expect(tool.code === 0 && tool.stdout.includes("the child's answer"), `pi -e failed:\n${tool.stderr}`);
		expect(tool.stdout.includes("the parent's answer"), "the parent did not go on after the run");
		const cli = join(installed, "dist", "cli.js");
		const args = [cli, "run", "worker", "PACKED-CHILD", "--pi", PI_CLI, "--model", "mock/m1"];
		const { stdout } = await run(process.execPath, args, { env: directory.env, cwd: directory.cwd });
		expect(stdout === "the child's answer\n", `flightdeck run printed: ${stdout}`);
		const runs = await readdir(join(directory.agentDir, "flightdeck", "runs"));
		expect(runs.length === 2, `${runs.length} records instead of 2`);
		for (const id of runs) {
			const manifest = JSON.parse(
				await readFile(join(directory.agentDir, "flightdeck", "runs", id, "run.json"), "utf8"),
			);
			expect(manifest.status === "completed" && manifest.recordComplete, `the record of ${id} is not complete`);
		}
		expect(server.unexpected().length === 0, `unexpected requests: ${server.unexpected().join("; ")}`);
	} finally {
		await server.stop();
		await directory.cleanup();
	}
}

function expect(condition: boolean, otherwise: string): asserts condition {
	if (!condition) throw new Error(otherwise);
}
