import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { agentDirectories } from "../../src/agents/agent-directories.ts";
import { folderWith } from "./agent-files.ts";

test.each([
	["in cwd, without git", ["w/.pi/agents"], [], "w", "w/.pi/agents"],
	["above cwd, without git: anybody's", [".pi/agents", "w"], [], "w", undefined],
	["at the git root", ["r/.git", "r/.pi/agents", "r/a/b"], [], "r/a/b", "r/.pi/agents"],
	["at the root of a linked work tree", ["r/.pi/agents", "r/a"], ["r/.git"], "r/a", "r/.pi/agents"],
	["the nearest of several", ["r/.git", "r/.pi/agents", "r/a/.pi/agents", "r/a/b"], [], "r/a/b", "r/a/.pi/agents"],
	["not above the git root", [".pi/agents", "r/.git", "r/a"], [], "r/a", undefined],
	["not above the root of a submodule", ["r/.git", "r/.pi/agents", "r/s/a"], ["r/s/.git"], "r/s/a", undefined],
	["never below cwd", ["r/.git", "r/a/.pi/agents"], [], "r", undefined],
	["a file of that name is none", ["r/.git", "r/.pi"], ["r/.pi/agents"], "r", undefined],
	["a nested .pi without agents is passed", ["r/.git", "r/.pi/agents", "r/a/.pi"], [], "r/a", "r/.pi/agents"],
	["none", ["r/.git"], [], "r", undefined],
	["cwd is gone", [], [], "gone/deep", undefined],
])("project folder: %s", async (_, dirs, files, cwd, expected) => {
	await using tree = await folderWith(Object.fromEntries(files.map((file) => [file, "gitdir: x"])));
	for (const dir of dirs) await mkdir(join(tree.root, dir), { recursive: true });
	const found = await agentDirectories({ agentDir: join(tree.root, "home"), cwd: join(tree.root, cwd) });
	expect(found.userDir).toBe(join(tree.root, "home", "agents"));
	expect(found.projectDir).toBe(expected === undefined ? undefined : join(tree.root, expected));
});

test("pi's own folder inside the project holds the user's agents", async () => {
	await using tree = await folderWith({ ".git/HEAD": "x", ".pi/agents/a.md": "x" });
	const userDir = join(tree.root, ".pi", "agents");
	expect(await agentDirectories({ agentDir: join(tree.root, ".pi"), cwd: tree.root })).toEqual({ userDir });
});
