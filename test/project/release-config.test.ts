import { execFileSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { Ajv } from "ajv";
import { Manifest, type ReleasePullRequest, setLogger } from "release-please";
import { LocalGitHub } from "release-please/build/src/local-github.js";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { parseChangelog } from "../../node_modules/@earendil-works/pi-coding-agent/dist/utils/changelog.js";

const root = join(import.meta.dirname, "../..");
const configFile = "release-please-config.json";
const manifestFile = ".release-please-manifest.json";
const releaseFiles = [configFile, manifestFile, "CHANGELOG.md", "package.json"];

const silent = () => undefined;
setLogger({ error: silent, warn: silent, info: silent, debug: silent, trace: silent });

function readJson(path: string) {
	return JSON.parse(readFileSync(join(root, path), "utf8"));
}

function headingsOf(changelog: string): string[] {
	return [...changelog.matchAll(/^## \[?([\w.]+)/gm)].map((match) => match[1] ?? "");
}

describe("release-please's files", () => {
	it.each([
		[configFile, "config.json"],
		[manifestFile, "manifest.json"],
	])("%s follows the schema of the installed release-please", (file, schemaFile) => {
		// The schema describes formats of other dialects ("uri-reference"), which Ajv knows only with an add-on.
		const ajv = new Ajv({ strict: false, validateFormats: false });
		const validate = ajv.compile(readJson(join("node_modules/release-please/schemas", schemaFile)));
		expect(validate(readJson(file)), ajv.errorsText(validate.errors)).toBe(true);
		expect(validate({ ...readJson(file), unknown: 1 })).toBe(false);
	});

	it("name one package whose version is the one in package.json", () => {
		expect(Object.keys(readJson(configFile).packages)).toEqual(["."]);
		expect(readJson(manifestFile)).toEqual({ ".": readJson("package.json").version });
	});

	it("show each type of commit under a heading of Keep a Changelog, or hide it", () => {
		const sections: { section: string; hidden?: boolean }[] = readJson(configFile).packages["."]["changelog-sections"];
		const shown = new Set(sections.filter((entry) => !entry.hidden).map((entry) => entry.section));
		expect([...shown]).toEqual(["Added", "Changed", "Deprecated", "Removed", "Fixed", "Security", "Performance"]);
	});

	it("exclude no folder that is published", () => {
		const excluded: string[] = readJson(configFile).packages["."]["exclude-paths"];
		for (const published of ["src", "scripts", ...readJson("package.json").files]) {
			expect(excluded).not.toContain(published);
		}
	});
});

// The real release-please on a real repository; of GitHub's answers it needs only which releases there are.
describe("a release", () => {
	let repository: string;
	let released: { tagName: string; sha: string }[];

	beforeEach(() => {
		repository = mkdtempSync(join(tmpdir(), "flightdeck-release-"));
		released = [];
		git("init", "--quiet", "--initial-branch=main");
		for (const file of releaseFiles) cpSync(join(root, file), join(repository, file));
		write(manifestFile, '{\n\t".": "0.0.0"\n}\n');
		write("package.json", JSON.stringify({ ...readJson("package.json"), version: "0.0.0" }, null, "\t"));
		commit("chore: set up the repository", {});
	});

	afterEach(() => rmSync(repository, { recursive: true, force: true, maxRetries: 5 }));

	function git(...args: string[]): string {
		const settings = ["user.name=test", "user.email=test@localhost", "core.autocrlf=false", "commit.gpgsign=false"];
		return execFileSync("git", [...settings.flatMap((setting) => ["-c", setting]), ...args], {
			cwd: repository,
			encoding: "utf8",
		}).trim();
	}

	function write(file: string, content: string): void {
		mkdirSync(dirname(join(repository, file)), { recursive: true });
		writeFileSync(join(repository, file), content);
	}

	function commit(message: string, files: Record<string, string>): void {
		for (const [file, content] of Object.entries(files)) write(file, content);
		git("add", "--all");
		git("commit", "--quiet", "--message", message);
	}

	async function propose(): Promise<ReleasePullRequest | undefined> {
		const origin = { owner: "owner", repo: "pi-flightdeck", defaultBranch: "main" };
		const github = {
			repository: origin,
			async *releaseIterator() {
				yield* released;
			},
		};
		const scm = new LocalGitHub(origin, github as never, repository);
		const pullRequests = await (await Manifest.fromManifest(scm as never, "main")).buildPullRequests();
		expect(pullRequests.length).toBeLessThanOrEqual(1);
		return pullRequests[0];
	}

	/** Does what merging the release pull request and tagging it would do. */
	function release(proposal: ReleasePullRequest): string {
		for (const update of proposal.updates) {
			if (!releaseFiles.includes(update.path)) continue;
			write(update.path, update.updater.updateContent(readFileSync(join(repository, update.path), "utf8")));
		}
		commit(`chore(main): release ${proposal.version}`, {});
		released.unshift({ tagName: `v${proposal.version}`, sha: git("rev-parse", "HEAD") });
		git("tag", `v${proposal.version}`);
		return readFileSync(join(repository, "CHANGELOG.md"), "utf8");
	}

	async function releaseOf(message: string, files: Record<string, string>): Promise<string> {
		commit(message, files);
		const proposal = await propose();
		if (!proposal) throw new Error(`no release for: ${message}`);
		return release(proposal);
	}

	it.each([
		["docs: explain the record", { "README.md": "more" }],
		["docs: say what a run is", { "src/run.ts": "// a comment" }],
		["feat: a page on runs", { "docs/runs.md": "a page" }],
		["fix: the plan's numbers", { "docs/plans/0001-start.md": "a plan", "docs/retro/0001-start.md": "a retro" }],
		["feat: a bench of large lines", { "bench/lines.ts": "1", "test/lines.test.ts": "1" }],
		["test: a line of 64 MB", { "test/lines.test.ts": "1" }],
		["ci: run on Windows too", { ".github/workflows/ci.yml": "on: push" }],
		["chore: tidy", { "src/run.ts": "1" }],
		["refactor: move the splitter", { "src/run.ts": "2" }],
	])("does not come of %j", async (message, files) => {
		commit(message, files);
		expect(await propose()).toBeUndefined();
	});

	it("starts at 0.1.0 and is tagged without the package's name", async () => {
		commit("feat: hand tasks to a child", { "src/run.ts": "1" });
		const proposal = await propose();
		expect(proposal?.version?.toString()).toBe("0.1.0");
		expect(proposal?.title.toString()).toBe("chore(main): release 0.1.0");
	});

	it.each([
		["fix: keep the last line", "0.1.1"],
		["perf: read less", "0.1.1"],
		["feat: show the last line", "0.2.0"],
		["feat!: name lines otherwise", "0.2.0"],
		["fix: name lines\n\nBREAKING CHANGE: other names", "0.2.0"],
		["feat: go public\n\nRelease-As: 1.0.0", "1.0.0"],
	])("after 0.1.0 is numbered by the commit: %j", async (message, version) => {
		await releaseOf("feat: hand tasks to a child", { "src/run.ts": "1" });
		commit(message, { "src/run.ts": "2" });
		expect((await propose())?.version?.toString()).toBe(version);
	});

	it("takes a commit that touches documentation and source", async () => {
		commit("feat: a run has a name", { "docs/runs.md": "named", "src/run.ts": "named" });
		expect((await propose())?.body.toString()).toContain("a run has a name");
	});

	it("keeps the changelog's header, Unreleased and older releases in their order, twice", async () => {
		const before = readFileSync(join(root, "CHANGELOG.md"), "utf8");
		const header = before.slice(0, before.search(/\n## \[?\d/));
		expect(header).toMatch(/^# Changelog\n/);
		expect(header).toContain("\n## Unreleased\n");

		const first = await releaseOf("feat: hand tasks to a child", { "src/run.ts": "1" });
		expect(first.startsWith(header)).toBe(true);
		expect(first).toContain(before.slice(header.length).trim());
		expect(first).toContain("### Added\n\n* hand tasks to a child");

		const second = await releaseOf("fix: keep the last line", { "src/run.ts": "2" });
		expect(second.startsWith(header)).toBe(true);
		expect(second).toContain(first.slice(header.length).trim());
		expect(second).toContain("### Fixed\n\n* keep the last line");
		expect(headingsOf(second)).toEqual(["Unreleased", "0.1.1", "0.1.0", ...headingsOf(before).slice(1)]);
		expect(second.match(/^# /gm)).toHaveLength(1);
	});

	it("writes headings that pi's changelog reader understands", async () => {
		await releaseOf("feat: hand tasks to a child", { "src/run.ts": "1" });
		await releaseOf("fix: keep the last line", { "src/run.ts": "2" });
		const entries = parseChangelog(join(repository, "CHANGELOG.md"));
		expect(entries.slice(0, 2)).toMatchObject([
			{ major: 0, minor: 1, patch: 1, content: expect.stringContaining("keep the last line") },
			{ major: 0, minor: 1, patch: 0, content: expect.stringContaining("hand tasks to a child") },
		]);
	});

	it("leaves package.json and the manifest in the format of the linter", async () => {
		await releaseOf("feat: hand tasks to a child", { "src/run.ts": "1" });
		expect(readFileSync(join(repository, manifestFile), "utf8")).toBe('{\n\t".": "0.1.0"\n}\n');
		expect(readFileSync(join(repository, "package.json"), "utf8")).toMatch(
			/^\{\n\t"name": "pi-flightdeck",\n\t"version": "0.1.0",/,
		);
	});
});
