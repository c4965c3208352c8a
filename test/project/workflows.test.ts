import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { parse } from "yaml";

interface Step {
	uses?: string;
	run?: string;
	with?: Record<string, unknown>;
}

interface Job {
	"runs-on": string;
	"timeout-minutes"?: number;
	permissions?: Record<string, string>;
	strategy?: { matrix: Record<string, string[]> };
	env?: Record<string, string>;
	steps: Step[];
}

interface Workflow {
	permissions?: Record<string, string>;
	concurrency?: { group: string; "cancel-in-progress": unknown };
	jobs: Record<string, Job>;
}

const root = join(import.meta.dirname, "../..");
const directory = join(root, ".github/workflows");
const files = readdirSync(directory).filter((file) => /\.ya?ml$/.test(file));
const manifest = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
const ciRun = readFileSync(join(root, ".ci/run"), "utf8");

function readWorkflow(file: string): Workflow {
	return parse(readFileSync(join(directory, file), "utf8"), { strict: true, uniqueKeys: true });
}

function stepsOf(workflow: Workflow): Step[] {
	return Object.values(workflow.jobs).flatMap((job) => job.steps);
}

function scriptsIn(text: string): string[] {
	return [...text.matchAll(/\bnpm (?:run ([\w:-]+)|(test))\b/g)].map((match) => match[1] ?? match[2] ?? "");
}

describe("the workflows", () => {
	it("are the two that are described here", () => {
		expect(files.sort()).toEqual(["ci.yml", "release-please.yml"]);
	});

	it.each(files)("%s runs scripts that package.json has", (file) => {
		const named = stepsOf(readWorkflow(file)).flatMap((step) => scriptsIn(step.run ?? ""));
		expect(named.length).toBeGreaterThan(0);
		expect(Object.keys(manifest.scripts)).toEqual(expect.arrayContaining(named));
	});

	it.each(files)("%s uses actions by a major version", (file) => {
		for (const { uses } of stepsOf(readWorkflow(file))) {
			if (uses) expect(uses).toMatch(/^[\w-]+\/[\w-]+@v\d+$/);
		}
	});

	it.each(files)("%s asks for few permissions, ends by itself and has a concurrency group", (file) => {
		const workflow = readWorkflow(file);
		expect(workflow.concurrency?.group).toBeTruthy();
		expect(Object.values(workflow.permissions ?? { all: "write" })).not.toContain("write");
		for (const job of Object.values(workflow.jobs)) expect(job["timeout-minutes"]).toBeGreaterThan(0);
	});

	it.each(files)("%s leaves no token in the checkout", (file) => {
		for (const step of stepsOf(readWorkflow(file))) {
			if (step.uses?.startsWith("actions/checkout@")) expect(step.with?.["persist-credentials"]).toBe(false);
		}
	});
});

describe("ci.yml", () => {
	const { check } = readWorkflow("ci.yml").jobs;
	const matrix = check?.strategy?.matrix;

	it("runs on the three systems, the oldest and the newest Node and pi", () => {
		expect(matrix?.os).toEqual(["ubuntu-latest", "macos-latest", "windows-latest"]);
		expect(matrix?.node).toEqual(["22.19", "24"]);
		expect(manifest.engines.node).toBe(`>=${matrix?.node?.[0]}.0`);
		expect(matrix?.pi?.at(-1)).toBe("latest");
	});

	it("does so with the pi of the matrix, the oldest of which the development dependency allows", () => {
		expect(check?.env?.PI_VERSION).toBe("$" + "{{ matrix.pi }}");
		const install = check?.steps.find((step) => step.run?.includes("--no-save"))?.run ?? "";
		const pi = Object.keys(manifest.peerDependencies).filter((name) => name.startsWith("@earendil-works/"));
		expect(pi.length).toBeGreaterThan(0);
		for (const name of pi) {
			expect(install).toContain(`"${name}@$PI_VERSION"`);
			expect(manifest.devDependencies[name]).toBe(`^${matrix?.pi?.[0]}`);
		}
	});

	it("checks what .ci/run checks, in the same order and with the tests last", () => {
		const steps = check?.steps.flatMap((step) => scriptsIn(step.run ?? ""));
		const local = [...ciRun.matchAll(/^step "([^"]+)"/gm)].flatMap((match) => scriptsIn(match[1] ?? ""));
		expect(local.at(-1)).toBe("test");
		expect(local).toEqual(steps);
	});

	it("knows the names of its steps in .ci/run by what they run", () => {
		for (const [, name, command] of ciRun.matchAll(/^step "([^"]+)" (.+)$/gm)) {
			expect(command?.startsWith(name ?? "?"), name).toBe(true);
		}
	});
});

describe("release-please.yml", () => {
	const { release, publish } = readWorkflow("release-please.yml").jobs;

	it("reads the two files of this repository", () => {
		const step = release?.steps.find((candidate) => candidate.uses?.startsWith("googleapis/release-please-action@"));
		expect(step?.with).toMatchObject({
			"config-file": "release-please-config.json",
			"manifest-file": ".release-please-manifest.json",
		});
	});

	it("publishes with provenance, and may write nothing but the statement", () => {
		expect(publish?.steps.at(-1)?.run).toBe("npm publish --provenance --access public");
		expect(publish?.permissions).toEqual({ contents: "read", "id-token": "write" });
	});
});
