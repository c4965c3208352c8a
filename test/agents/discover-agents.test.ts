import { execFileSync } from "node:child_process";
import { chmod, mkdir, rm, symlink } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { discoverAgents } from "../../src/agents/discover-agents.ts";
import { agentText, folderWith } from "./agent-files.ts";

const named = (name: string, description = "d") => agentText(`name: ${name}\ndescription: ${description}`);

/** Root reads everything: for as long as it looks, this process is nobody. */
async function asNobody<T>(look: () => Promise<T>): Promise<T> {
	if (process.getuid?.() !== 0) return look();
	process.seteuid?.("nobody");
	try {
		return await look();
	} finally {
		process.seteuid?.(0);
	}
}

/** The three folders under one root. */
const folders = (root: string) => ({
	builtinDir: join(root, "builtin"),
	userDir: join(root, "user"),
	projectDir: join(root, "project"),
});

describe("one folder", () => {
	test("holds Markdown files directly in it, sorted by agent name", async () => {
		await using tree = await folderWith({
			"user/z.md": named("alpha"),
			"user/a.md": named("zeta"),
			"user/m.md": named("Beta"),
			"user/README.md": "# Mine",
			"user/notes.txt": named("text"),
			"user/.hidden.md": named("hidden"),
			"user/deep/x.md": named("deep"),
			"user/folder.md/x.md": named("folder"),
			"user/node_modules/y.md": named("module"),
		});
		const { agents, problems } = await discoverAgents(folders(tree.root));
		expect(agents.map((agent) => agent.name)).toEqual(["Beta", "alpha", "zeta"]);
		expect(agents.map((agent) => agent.file)).toEqual(
			["m.md", "z.md", "a.md"].map((name) => join(tree.root, "user", name)),
		);
		expect(problems).toEqual([]);
	});

	test("may be missing", async () => {
		await using tree = await folderWith({});
		expect(await discoverAgents(folders(tree.root))).toEqual({ agents: [], problems: [] });
		const { builtinDir, userDir } = folders(tree.root);
		expect(await discoverAgents({ builtinDir, userDir })).toEqual({ agents: [], problems: [] });
	});

	test("may be no folder", async () => {
		await using tree = await folderWith({ user: "text" });
		const { problems } = await discoverAgents(folders(tree.root));
		expect(problems).toEqual([{ file: join(tree.root, "user"), message: expect.stringContaining("ENOTDIR") }]);
	});

	test("reports what is wrong with one file and reads the others", async () => {
		await using tree = await folderWith({
			"user/bad.md": agentText("name: bad"),
			"user/good.md": named("good"),
			"user/huge.md": agentText("name: huge\ndescription: d", "x".repeat(256 * 1024)),
			"user/megabyte.md": Buffer.alloc(1024 * 1024, "y"),
			"user/binary.md": Buffer.from([0xff, 0x00, 0xc3, 0x28, 0x80]),
			"user/trail.md": agentText("name: ../../x\ndescription: d"),
		});
		const { agents, problems } = await discoverAgents(folders(tree.root));
		expect(agents.map((agent) => agent.name)).toEqual(["good"]);
		expect(problems.map(({ file, field, message }) => [file.slice(tree.root.length + 6), field, message])).toEqual([
			["bad.md", "description", expect.stringContaining("is missing")],
			["binary.md", undefined, expect.stringContaining("can't read the file")],
			["huge.md", undefined, "larger than 256 KiB"],
			["megabyte.md", undefined, "larger than 256 KiB"],
			["trail.md", "name", expect.stringContaining("is not valid")],
		]);
	});

	test("takes a file of exactly 256 KiB", async () => {
		const head = agentText("name: full\ndescription: d", "");
		await using tree = await folderWith({ "user/full.md": head.padEnd(256 * 1024, "x") });
		expect(await discoverAgents(folders(tree.root))).toMatchObject({ agents: [{ name: "full" }], problems: [] });
	});

	test.each(["utf-16le", "utf-16be"] as const)("reads %s with its mark", async (encoding) => {
		const bytes = Buffer.from(`\uFEFF${named("wide")}`, "utf16le");
		await using tree = await folderWith({ "user/w.md": encoding === "utf-16le" ? bytes : bytes.swap16() });
		expect(await discoverAgents(folders(tree.root))).toMatchObject({ agents: [{ name: "wide" }], problems: [] });
	});

	test("the first of two files with one name counts", async () => {
		await using tree = await folderWith({
			"user/b.md": named("twin", "second"),
			"user/a.md": named("twin", "first"),
			"user/c.md": named("twin", "third"),
		});
		const { agents, problems } = await discoverAgents(folders(tree.root));
		expect(agents).toMatchObject([{ description: "first" }]);
		expect(problems.map((problem) => problem.file)).toEqual([
			join(tree.root, "user/b.md"),
			join(tree.root, "user/c.md"),
		]);
		expect(problems[0]).toMatchObject({
			field: "name",
			message: expect.stringContaining(join(tree.root, "user/a.md")),
		});
	});

	test("is read up to a thousand files", async () => {
		const files = Array.from({ length: 1002 }, (_, i) => [`user/a${String(i).padStart(4, "0")}.md`, "text"] as const);
		await using tree = await folderWith(Object.fromEntries(files));
		const { problems } = await discoverAgents(folders(tree.root));
		expect(problems).toEqual([
			{ file: join(tree.root, "user"), message: "only the first 1000 of 1002 files are read" },
		]);
	});
});

describe.skipIf(process.platform === "win32")("links and special files (Windows: links need rights, no modes)", () => {
	test("links to files count, others do not", async () => {
		await using tree = await folderWith({ "elsewhere/real.md": named("linked"), "user/a.md": named("a") });
		const user = join(tree.root, "user");
		await symlink(join(tree.root, "elsewhere/real.md"), join(user, "link.md"));
		await symlink(join(tree.root, "elsewhere"), join(user, "folder.md"));
		await symlink(join(tree.root, "gone"), join(user, "dangling.md"));
		await symlink("loop.md", join(user, "loop.md"));
		execFileSync("mkfifo", [join(user, "pipe.md")]);
		const { agents, problems } = await discoverAgents(folders(tree.root));
		expect(agents.map((agent) => [agent.name, agent.file])).toEqual([
			["a", join(user, "a.md")],
			["linked", join(user, "link.md")],
		]);
		expect(problems).toEqual([
			{ file: join(user, "dangling.md"), message: expect.stringContaining("ENOENT") },
			{ file: join(user, "loop.md"), message: expect.stringContaining("ELOOP") },
			{ file: join(user, "pipe.md"), message: "not a regular file" },
		]);
	});

	test("extension paths start at the place that names the agent", async () => {
		await using tree = await folderWith({
			"elsewhere/real.md": agentText("name: linked\ndescription: d\nextensions: ./x.ts"),
			"user/a.md": named("a"),
		});
		await symlink(join(tree.root, "elsewhere/real.md"), join(tree.root, "user/link.md"));
		const { agents } = await discoverAgents(folders(tree.root));
		expect(agents[1]?.extensions).toEqual([join(tree.root, "user/x.ts")]);
	});

	test("what can't be read is a problem", async () => {
		await using tree = await folderWith({ "user/a.md": named("a"), "project/b.md": named("b") });
		await chmod(tree.root, 0o755);
		await chmod(join(tree.root, "user/a.md"), 0);
		await chmod(join(tree.root, "project"), 0);
		const { agents, problems } = await asNobody(() => discoverAgents(folders(tree.root)));
		await chmod(join(tree.root, "project"), 0o700);
		expect(agents).toEqual([]);
		expect(problems).toMatchObject([
			{ file: join(tree.root, "project"), message: expect.stringContaining("EACCES") },
			{ file: join(tree.root, "user/a.md"), message: expect.stringContaining("EACCES") },
		]);
	});
});

describe("precedence", () => {
	test("project, user, built-in; only a hidden user agent is news", async () => {
		await using tree = await folderWith({
			"builtin/scout.md": named("scout", "builtin"),
			"builtin/worker.md": named("worker", "builtin"),
			"builtin/planner.md": named("planner", "builtin"),
			"user/scout.md": named("scout", "user"),
			"user/worker.md": named("worker", "user"),
			"user/mine.md": named("mine", "user"),
			"project/my-scout.md": named("scout", "project"),
			"project/planner.md": named("planner", "project"),
		});
		const { agents, problems } = await discoverAgents(folders(tree.root));
		expect(agents.map(({ name, source, description }) => [name, source, description])).toEqual([
			["planner", "project", "project"],
			["scout", "project", "project"],
			["mine", "user", "user"],
			["worker", "user", "user"],
		]);
		expect(problems).toHaveLength(1);
		expect(problems[0]).toMatchObject({ file: join(tree.root, "project/my-scout.md"), field: "name" });
		expect(problems[0]?.message).toContain(join(tree.root, "project/my-scout.md"));
		expect(problems[0]?.message).toContain(join(tree.root, "user/scout.md"));
	});

	test("without a project folder nothing of the project is read", async () => {
		await using tree = await folderWith({ "user/a.md": named("a", "user"), "project/a.md": named("a", "project") });
		const { builtinDir, userDir } = folders(tree.root);
		expect(await discoverAgents({ builtinDir, userDir, projectDir: undefined })).toMatchObject({
			agents: [{ source: "user" }],
			problems: [],
		});
	});

	test("a broken project file hides nothing", async () => {
		await using tree = await folderWith({ "user/a.md": named("a"), "project/a.md": agentText("name: a") });
		const { agents, problems } = await discoverAgents(folders(tree.root));
		expect(agents).toMatchObject([{ name: "a", source: "user" }]);
		expect(problems).toMatchObject([{ file: join(tree.root, "project/a.md"), field: "description" }]);
	});

	test("stops when aborted", async () => {
		await using tree = await folderWith({ "user/a.md": named("a") });
		const signal = AbortSignal.abort();
		await expect(discoverAgents({ ...folders(tree.root), signal })).rejects.toThrow(/abort/i);
		await rm(join(tree.root, "user"), { recursive: true });
		await mkdir(join(tree.root, "user"));
		await expect(discoverAgents({ ...folders(tree.root), signal })).rejects.toThrow(/abort/i);
	});
});
