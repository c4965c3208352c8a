import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { describe, expect, it } from "vitest";
import { parse } from "yaml";

const root = join(import.meta.dirname, "../..");

interface Document {
	file: string;
	text: string;
}

const headings = {
	plan: ["Problem", "Goals", "Non-goals", "Design", "Risks", "Invariants at risk", "Test order"],
	retro: ["Summary", "What went well", "What caused friction", "What was measured"],
};

function readDocuments(directory: string): Document[] {
	const path = join(root, directory);
	if (!existsSync(path)) return [];
	return readdirSync(path)
		.filter((file) => file.endsWith(".md") && file !== "README.md")
		.map((file) => ({ file, text: readFileSync(join(path, file), "utf8") }));
}

function frontMatterOf(text: string): Record<string, unknown> | undefined {
	const match = /^---\r?\n(.*?)\r?\n---\r?\n/s.exec(text);
	if (!match) return undefined;
	const value = parse(match[1] ?? "");
	return value && typeof value === "object" ? value : undefined;
}

/** What is wrong with the form of a plan or a retro. */
function problemsOf(kind: keyof typeof headings, { file, text }: Document): string[] {
	const problems: string[] = [];
	const number = /^(\d{4})-[a-z0-9]+(?:-[a-z0-9]+)*\.md$/.exec(file)?.[1];
	if (!number) problems.push("is not named NNNN-slug.md");
	const matter = frontMatterOf(text);
	if (!matter) problems.push("has no front matter");
	else {
		if (!Number.isInteger(matter.issue)) problems.push("has no issue number in its front matter");
		else if (number && Number(number) !== matter.issue) problems.push("names another issue than its file name");
		if (typeof matter.issue_title !== "string" || !matter.issue_title.trim()) problems.push("has no issue_title");
	}
	const found = [...text.matchAll(/^## +(.+?)\s*$/gm)].map((match) => match[1]?.toLowerCase() ?? "");
	const places = headings[kind].map((heading) => found.findIndex((line) => line.startsWith(heading.toLowerCase())));
	for (const [index, place] of places.entries()) {
		if (place === -1) problems.push(`has no heading "${headings[kind][index]}"`);
	}
	const present = places.filter((place) => place !== -1);
	if (present.some((place, index) => index > 0 && place < (present[index - 1] ?? 0))) {
		problems.push("has its headings in another order");
	}
	return problems.map((problem) => `${file} ${problem}`);
}

/**
 * Work goes on in the order of the numbers: a plan at or below the newest retro is finished and has a retro itself,
 * unless its front matter says `open: true`.
 */
function unpaired(plans: Document[], retros: Document[]): string[] {
	const finished = new Set(retros.map(({ file }) => file));
	const planned = new Set(plans.map(({ file }) => file));
	const newest = Math.max(-1, ...retros.map(({ file }) => Number.parseInt(file, 10)));
	return [
		...retros.filter(({ file }) => !planned.has(file)).map(({ file }) => `retro ${file} has no plan`),
		...plans.flatMap(({ file, text }) => {
			const open = frontMatterOf(text)?.open === true;
			if (finished.has(file)) return open ? [`plan ${file} says it is open and has a retro`] : [];
			return !open && Number.parseInt(file, 10) <= newest ? [`plan ${file} has no retro`] : [];
		}),
	];
}

/** Targets of relative links that lead to no file, as `file: target`. */
function brokenLinks(path: string, text: string): string[] {
	const prose = text.replace(/^(```+|~~~+)[\s\S]*?^\1\s*$/gm, "").replace(/`[^`\n]*`/g, "");
	const inline = [...prose.matchAll(/\]\(\s*<?([^)\s>]+)>?(?:\s+["'(][^)]*)?\s*\)/g)];
	const references = [...prose.matchAll(/^ {0,3}\[[^\]^]+\]:\s*<?([^\s>]+)>?/gm)];
	return [...inline, ...references]
		.map((match) => match[1] ?? "")
		.filter((target) => !/^([a-z][a-z0-9+.-]*:|#|\/\/)/i.test(target))
		.filter((target) => {
			const file = decodeURIComponent(target.replace(/[#?].*$/, ""));
			return file.startsWith("/") || !existsSync(join(dirname(path), file));
		})
		.map((target) => `${relative(root, path).replaceAll("\\", "/")}: ${target}`);
}

function markdownFiles(directory: string): string[] {
	return readdirSync(directory, { withFileTypes: true }).flatMap((entry) => {
		const path = join(directory, entry.name);
		if (["node_modules", ".git", "dist", "coverage", "fixtures"].includes(entry.name)) return [];
		if (entry.isDirectory()) return markdownFiles(path);
		return entry.name.endsWith(".md") ? [path] : [];
	});
}

describe("plans and retros", () => {
	const plans = readDocuments("docs/plans");
	const retros = readDocuments("docs/retro");

	it("have a name, front matter and headings as agreed", () => {
		expect([
			...plans.flatMap((plan) => problemsOf("plan", plan)),
			...retros.flatMap((retro) => problemsOf("retro", retro)),
		]).toEqual([]);
	});

	it("come in pairs once an issue is finished", () => {
		expect(unpaired(plans, retros)).toEqual([]);
	});

	it.each(["plan", "retro"] as const)("start from a template of a %s that has that form", (kind) => {
		const readme = readFileSync(join(root, kind === "plan" ? "docs/plans/README.md" : "docs/retro/README.md"), "utf8");
		const template = /^```markdown\n(.*?)^```$/ms.exec(readme)?.[1] ?? "";
		expect(problemsOf(kind, { file: "0012-name-of-the-issue.md", text: template })).toEqual([]);
	});
});

describe("Markdown files", () => {
	const files = markdownFiles(root);

	it("link to files that exist", () => {
		expect(files.map((file) => relative(root, file))).toContain("CONTRIBUTING.md");
		expect(files.flatMap((file) => brokenLinks(file, readFileSync(file, "utf8")))).toEqual([]);
	});

	it("are not empty", () => {
		expect(files.filter((file) => statSync(file).size === 0)).toEqual([]);
	});
});

describe("the checks of this file", () => {
	const plan = `---\nissue: 3\nissue_title: Keep the last line\n---\n\n# Plan\n\n${headings.plan.map((heading) => `## ${heading}\n\nText.\n`).join("\n")}`;

	it("accept a plan in its form", () => {
		expect(problemsOf("plan", { file: "0003-last-line.md", text: plan })).toEqual([]);
	});

	it.each([
		["last-line.md", plan, "is not named NNNN-slug.md"],
		["0004-last-line.md", plan, "names another issue than its file name"],
		["0003-last-line.md", plan.replace(/^---\n.*?---\n/s, ""), "has no front matter"],
		["0003-last-line.md", plan.replace("issue: 3", "issue: three"), "has no issue number in its front matter"],
		["0003-last-line.md", plan.replace(/issue_title: .*/, "issue_title:"), "has no issue_title"],
		["0003-last-line.md", plan.replace("## Risks", "### Risks"), 'has no heading "Risks"'],
		[
			"0003-last-line.md",
			plan.replace("## Goals", "## X").replace("## Problem", "## Goals").replace("## X", "## Problem"),
			"has its headings in another order",
		],
	])("refuse %s when it differs (%#)", (file, text, problem) => {
		expect(problemsOf("plan", { file, text })).toEqual([`${file} ${problem}`]);
	});

	it("tell a finished issue from an open one", () => {
		const named = (file: string, text = plan) => ({ file, text });
		const open = plan.replace("---\n", "---\nopen: true\n");
		expect(unpaired([named("0001-a.md"), named("0002-b.md")], [named("0001-a.md")])).toEqual([]);
		expect(unpaired([named("0001-a.md"), named("0002-b.md")], [named("0002-b.md")])).toEqual([
			"plan 0001-a.md has no retro",
		]);
		expect(unpaired([named("0001-a.md", open), named("0002-b.md")], [named("0002-b.md")])).toEqual([]);
		expect(unpaired([named("0001-a.md", open)], [named("0001-a.md")])).toEqual([
			"plan 0001-a.md says it is open and has a retro",
		]);
		expect(unpaired([], [named("0001-a.md")])).toEqual(["retro 0001-a.md has no plan"]);
	});

	it("find links that lead nowhere, and only those", () => {
		const text = [
			"[a](CONTRIBUTING.md) [b](./docs/plans/README.md#top) [c](https://example.com/x.md) [d](#here)",
			"![e](missing.png) [f](docs/none.md 'title') `[g](code.md)` [h]",
			"```\n[i](fenced.md)\n```",
			"[h]: nowhere.md",
			"[j](/absolute.md)",
		].join("\n");
		expect(brokenLinks(join(root, "README.md"), text)).toEqual([
			"README.md: missing.png",
			"README.md: docs/none.md",
			"README.md: /absolute.md",
			"README.md: nowhere.md",
		]);
	});
});
