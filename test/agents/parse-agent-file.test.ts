import { homedir } from "node:os";
import { join, resolve } from "node:path";
import type { ThinkingLevel as PiThinkingLevel } from "@earendil-works/pi-agent-core";
import fc from "fast-check";
import { describe, expect, expectTypeOf, test } from "vitest";
import { type AgentDefinition, THINKING_LEVELS, type ThinkingLevel } from "../../src/agents/agent-definition.ts";
import { agentNameProblem } from "../../src/agents/agent-name.ts";
import { parseAgentFile } from "../../src/agents/parse-agent-file.ts";
import { agentText } from "./agent-files.ts";

const FILE = resolve("/agents/from-file.md");
const REQUIRED = "name: scout\ndescription: Looks around";

function parsed(text: string, file = FILE): AgentDefinition {
	const result = parseAgentFile(text, file, "user");
	if (result.kind !== "agent") throw new Error(`not an agent: ${JSON.stringify(result)}`);
	return result.definition;
}

function problem(text: string, file = FILE) {
	const result = parseAgentFile(text, file, "user");
	if (result.kind !== "invalid") throw new Error(`not invalid: ${JSON.stringify(result)}`);
	return result.problem;
}

const withField = (line: string) => agentText(`${REQUIRED}\n${line}`);

describe("the file", () => {
	test("becomes a definition with only what it sets", () => {
		expect(parsed(agentText(REQUIRED, "\n\nLook.\n\nReport.\n\n"))).toEqual({
			name: "scout",
			description: "Looks around",
			source: "user",
			file: FILE,
			systemPrompt: "Look.\n\nReport.",
			warnings: [],
		});
	});

	const lines = ["---", "name: scout", "description: Looks around", "---", "One.", "", "Two."];
	test.each([
		["LF", lines.join("\n")],
		["LF with a final line end", `${lines.join("\n")}\n`],
		["CRLF", lines.join("\r\n")],
		["CR", lines.join("\r")],
		["BOM", `\uFEFF${lines.join("\n")}`],
		["BOM and CRLF", `\uFEFF${lines.join("\r\n")}\r\n`],
		["blanks after the markers", lines.join("\n").replaceAll("---", "--- \t")],
		["blank lines before", `\n \n${lines.join("\n")}`],
	])("reads the same with %s", (_, text) => {
		const { name, description, systemPrompt } = parsed(text);
		expect({ name, description, systemPrompt }).toEqual({
			name: "scout",
			description: "Looks around",
			systemPrompt: "One.\n\nTwo.",
		});
	});

	test.each([
		["no body", `---\n${REQUIRED}\n---`, ""],
		["a blank body", `---\n${REQUIRED}\n---\n \n\n`, ""],
		["a rule in the body", `---\n${REQUIRED}\n---\na\n\n---\n\nb`, "a\n\n---\n\nb"],
		["U+2028 before dashes", `---\n${REQUIRED}\nnotes: "a\u2028---"\n---\nbody`, "body"],
	])("body: %s", (_, text, body) => {
		expect(parsed(text).systemPrompt).toBe(body);
	});

	test.each([
		["empty", ""],
		["plain text", "Hello"],
		["a README", "# Agents\n\nname: x\ndescription: y\n"],
		["a rule at the top", "---\n\nJust text, never closed."],
		["front matter of something else", agentText("title: About\nlayout: page")],
		["empty front matter", "---\n---\nbody"],
		["a list", agentText("- a\n- b")],
		["a scalar", agentText("just text")],
		["blank name and description", agentText('name:\ndescription: ""')],
		["broken YAML of something else", agentText("title: [")],
		["a binary file", Buffer.from([0x7f, 0x45, 0x4c, 0x46, 0, 0, 0xff, 0xfe]).toString("latin1")],
		["front matter that is not at the top", `text\n${agentText(REQUIRED)}`],
	])("is ignored quietly: %s", (_, text) => {
		expect(parseAgentFile(text, FILE, "user")).toEqual({ kind: "ignored" });
	});

	test.each([
		["not closed", `---\n${REQUIRED}\nbody`, /not closed/],
		["broken", agentText(`${REQUIRED}\ntools: [read`), /not valid YAML.*\(line \d+\)/],
		["the same field twice", agentText(`${REQUIRED}\nname: other`), /unique.*\(line 4\)/],
		["a tag", agentText(`${REQUIRED}\nx: !!js/function "() => 1"`), /Unresolved tag/],
		["NUL bytes", agentText(REQUIRED, "a\0b"), /NUL/],
		["too much of it", agentText(`${REQUIRED}\nx: ${"y".repeat(70_000)}`), /longer than/],
	])("is invalid with front matter that is %s", (_, text, message) => {
		const found = problem(text);
		expect(found.file).toBe(FILE);
		expect(found.message).toMatch(message);
	});
});

describe("YAML", () => {
	test.each([
		["folded", "name: scout\ndescription: >\n  Looks\n  around", "Looks around"],
		["literal", "name: scout\ndescription: |\n  Looks\n  around", "Looks\naround"],
		["quoted", 'name: scout\ndescription: "Looks: around"', "Looks: around"],
		["with a comment", "name: scout\ndescription: Looks around # really", "Looks around"],
		["over lines", "name: scout\ndescription: Looks\n  around", "Looks around"],
		["an alias", "x: &d Looks around\nname: scout\ndescription: *d", "Looks around"],
	])("description %s", (_, fields, description) => {
		expect(parsed(agentText(fields))).toMatchObject({ description, warnings: [] });
	});

	test("a bare colon in a value is read, with a warning", () => {
		const definition = parsed(agentText("name: scout\ndescription: Use when: asked. Example: a # b\ntools: read"));
		expect(definition).toMatchObject({ description: "Use when: asked. Example: a # b", tools: ["read"] });
		expect(definition.warnings).toEqual([
			{ file: FILE, field: "description", message: expect.stringContaining("in quotes") },
		]);
	});

	test("keys that mean something to objects mean nothing", () => {
		const text = agentText(`${REQUIRED}\n__proto__: { tools: bash, polluted: 1 }\nconstructor: x\n<<: { model: evil }`);
		const definition = parsed(text);
		expect(Object.keys(definition)).not.toContain("tools");
		expect(definition.model).toBeUndefined();
		expect(Object.getPrototypeOf(definition)).toBe(Object.prototype);
		expect("polluted" in {}).toBe(false);
	});

	const doubling = Array.from({ length: 40 }, (_, i) => `a${i + 1}: &a${i + 1} [*a${i}, *a${i}, *a${i}]`).join("\n");
	test.each([
		["aliases that double", `${REQUIRED}\na0: &a0 [x]\n${doubling}`],
		["one alias many times", `${REQUIRED}\nx: [${"*a,".repeat(10_000)}]\ny: &a z`],
		["an alias of itself", `${REQUIRED}\nx: &x [*x]`],
		["deep lists", `${REQUIRED}\nx: ${"[".repeat(60_000)}`],
		["deep maps", `${REQUIRED}\nx: ${"{a: ".repeat(15_000)}`],
		["deep sequences", `${REQUIRED}\nx:\n  ${"- ".repeat(30_000)}`],
		["many keys", `${REQUIRED}\n${Array.from({ length: 6000 }, (_, i) => `k${i}: 1`).join("\n")}`],
		["a line of blanks", `${REQUIRED}${" ".repeat(60_000)}x: y: z`],
	])("a bomb is over soon: %s", (_, fields) => {
		const start = performance.now();
		parseAgentFile(agentText(fields), FILE, "project");
		expect(performance.now() - start).toBeLessThan(3000);
	});

	test("a megabyte of body is only text", () => {
		expect(parsed(agentText(REQUIRED, "x\r".repeat(500_000))).systemPrompt).toHaveLength(999_999);
	});
});

describe("name and description", () => {
	test.each([
		["a missing name is that of the file", "description: d", "from-file"],
		["a blank name too", "name: ''\ndescription: d", "from-file"],
		["names are composed", "name: u\u0308ber\ndescription: d", "\u00fcber"],
		["keys may be capitalised", "Name: scout\nDescription: d", "scout"],
	])("%s", (_, fields, name) => {
		expect(parsed(agentText(fields)).name).toBe(name);
	});

	test("a file name is composed as well", () => {
		expect(parsed(agentText("description: d"), "/agents/u\u0308ber.md").name).toBe("\u00fcber");
	});

	test.each([
		["no description", "name: scout", "description", "is missing"],
		["a number", "name: 12\ndescription: d", "name", "must be a text; it is a number"],
		["a list", "name: [a]\ndescription: d", "name", "must be a text; it is a list"],
		["a mapping", "name: scout\ndescription: { a: b }", "description", "must be a text; it is a mapping"],
		["a boolean", "name: scout\ndescription: true", "description", "must be a text; it is `true`"],
		["a way out", "name: ../../x\ndescription: d", "name", "consists of"],
		["a device", "name: NUL\ndescription: d", "name", "device"],
		["turned around", 'name: "user\\u202etxt"\ndescription: d', "name", "consists of"],
	])("invalid: %s", (_, fields, field, message) => {
		expect(problem(agentText(fields))).toEqual({ file: FILE, field, message: expect.stringContaining(message) });
		expect(problem(agentText(fields)).message).toContain(`\`${field}\``);
	});

	test("a file name that is no agent name is not taken", () => {
		expect(problem(agentText("description: d"), "/agents/my agent.md")).toMatchObject({ field: "name" });
	});
});

describe("tools", () => {
	test.each<[string, readonly string[] | undefined]>([
		["tools: read, bash", ["read", "bash"]],
		["tools: read,bash,", ["read", "bash"]],
		["tools: [read, bash]", ["read", "bash"]],
		["tools:\n  - read\n  - bash", ["read", "bash"]],
		["tools:\n  - read, bash\n  - ls", ["read", "bash", "ls"]],
		["tools: read, read, Read", ["read"]],
		["tools: Read, Bash, Edit, Write, Grep, Glob, LS", ["read", "bash", "edit", "write", "grep", "find", "ls"]],
		["tools: MultiEdit, Find", ["edit", "find"]],
		["tools: web_search, mcp__server__tool, mcp__x__*", ["web_search", "mcp__server__tool", "mcp__x__*"]],
		["tools: WebFetch", ["WebFetch"]],
		["tools: all", undefined],
		["tools: All", undefined],
		["tools: *", undefined],
		["tools: '*'", undefined],
		["tools: ['*']", undefined],
		["tools:", undefined],
		['tools: ""', undefined],
		["tools: none", []],
		["tools: None", []],
		["tools: []", []],
		["Tools: read", ["read"]],
		["allowed-tools: read", ["read"]],
		["allowed_tools: read", ["read"]],
		["allowedTools: read", ["read"]],
	])("%j is %j", (line, tools) => {
		expect(parsed(withField(line)).tools).toEqual(tools);
	});

	test.each([
		["tools: 3", "it is a number"],
		["tools: true", "it is `true`"],
		["tools: { read: true }", "it is a mapping"],
		["tools: [read, 3]", "the list holds a number"],
		["tools: [read, [bash]]", "the list holds a list"],
		["tools: [~]", "the list holds an empty value"],
		["tools: ','", "it names none"],
		["tools: read, all", "can't combine `all`"],
		["tools: [none, read]", "can't combine `none`"],
		["tools: read bash", "`read bash` is not a tool name"],
		["tools: Bash(git diff:*), Read", "write `Bash`"],
		["tools: -bash", "not a tool name"],
		["tools: +codemode", "not a tool name"],
		['tools: "a\\u001b[31mb"', "not a tool name"],
	])("%j is invalid", (line, message) => {
		const found = problem(withField(line));
		expect(found).toEqual({ file: FILE, field: "tools", message: expect.stringContaining(message) });
		expect(found.message).not.toContain("\u001b");
	});

	test("an empty value is remarked upon: it could be read either way", () => {
		expect(parsed(withField("tools:")).warnings).toMatchObject([{ field: "tools" }]);
	});
});

describe("model and thinking", () => {
	test.each([
		["model: mock/one", "mock/one"],
		["model: owner/name:high", "owner/name:high"],
		["model: sonnet", "sonnet"],
		["model: Opus", "Opus"],
		["model: inherit", undefined],
		["model: default", undefined],
		["model:", undefined],
		["model: ''", undefined],
	])("%j is %j", (line, model) => {
		expect(parsed(withField(line)).model).toBe(model);
	});

	test.each<[string, ThinkingLevel | undefined]>([
		...THINKING_LEVELS.map((level): [string, ThinkingLevel] => [`thinking: ${level}`, level]),
		["thinking: High", "high"],
		["thinking_level: low", "low"],
		["thinkingLevel: low", "low"],
		["effort: max", "max"],
		["thinking: inherit", undefined],
		["thinking:", undefined],
	])("%j is %j", (line, thinking) => {
		expect(parsed(withField(line)).thinking).toBe(thinking);
	});

	test.each([
		["model: [a, b]", "model", "must be a text; it is a list"],
		["model: 4", "model", "must be a text; it is a number"],
		["model: --api-key", "model", "id of one model"],
		['model: "a\\nb"', "model", "id of one model"],
		[`model: ${"m".repeat(300)}`, "model", "id of one model"],
		["thinking: hgih", "thinking", "must be one of off, minimal, low, medium, high, xhigh, max; it is `hgih`"],
		["thinking: 3", "thinking", "it is a number"],
		["thinking: false", "thinking", "it is `false`"],
	])("%j is invalid", (line, field, message) => {
		expect(problem(withField(line))).toEqual({ file: FILE, field, message: expect.stringContaining(message) });
	});

	test("the levels are those of pi", () => {
		expectTypeOf<ThinkingLevel>().toEqualTypeOf<PiThinkingLevel>();
	});
});

describe("extensions", () => {
	test.each([
		["extensions: none", "none"],
		["extensions: false", "none"],
		["extensions: []", "none"],
		["extensions: [none]", "none"],
		["extensions: inherit", "inherit"],
		["extensions: true", "inherit"],
		["extensions:", undefined],
		["extensions: ''", undefined],
		["extensions: ./a.ts", [resolve("/agents/a.ts")]],
		["extensions: ../ext/a.ts", [resolve("/ext/a.ts")]],
		["extensions: a.ts", [resolve("/agents/a.ts")]],
		["extensions: /opt/a.ts", [resolve("/opt/a.ts")]],
		["extensions: ~/a.ts", [join(homedir(), "a.ts")]],
		["extensions: [./a.ts, './b,c.ts', ./a.ts]", [resolve("/agents/a.ts"), resolve("/agents/b,c.ts")]],
	])("%j is %j", (line, extensions) => {
		expect(parsed(withField(line)).extensions).toEqual(extensions);
	});

	test.each([
		["extensions: 1", "it is a number"],
		["extensions: { a: b }", "it is a mapping"],
		["extensions: [1]", "the list holds a number"],
		["extensions: [inherit, ./a.ts]", "can't combine `inherit`"],
		["extensions: ./a.ts, ./b.ts", "must be a YAML list"],
		["extensions: ['']", "is none"],
		["extensions: npm:some-package", "is none"],
		["extensions: https://host/a.ts", "is none"],
		['extensions: "a\\0b"', "is none"],
	])("%j is invalid", (line, message) => {
		expect(problem(withField(line))).toEqual({
			file: FILE,
			field: "extensions",
			message: expect.stringContaining(message),
		});
	});
});

describe("other fields", () => {
	test.each([
		"color: red",
		"permissionMode: plan",
		"max_turns: 3",
		"mode: subagent",
		"hooks: {}",
		"date: 2024-01-01",
		"x: 1",
	])("%j is silent", (line) => {
		expect(parsed(withField(line)).warnings).toEqual([]);
	});

	test.each([
		["modle: x", "modle", "did you mean `model`?"],
		["tool: read", "tool", "did you mean `tools`?"],
		["Tols: read", "Tols", "did you mean `tools`?"],
		["extension: a.ts", "extension", "did you mean `extensions`?"],
		["thinkng: low", "thinkng", "did you mean `thinking`?"],
		["disallowedTools: Bash", "disallowedTools", "is not supported"],
	])("%j is remarked upon", (line, field, message) => {
		expect(parsed(withField(line)).warnings).toEqual([
			{ file: FILE, field, message: expect.stringContaining(message) },
		]);
	});

	test.each(["allowedTools: bash\ntools: read", "tools: read\nallowed-tools: bash"])(
		"of two spellings the house form counts: %j",
		(lines) => {
			const definition = parsed(withField(lines));
			expect(definition.tools).toEqual(["read"]);
			expect(definition.warnings).toMatchObject([{ field: "tools", message: expect.stringContaining("ignored") }]);
		},
	);
});

describe("any text at all", () => {
	const field = fc.constantFrom(
		"name",
		"description",
		"tools",
		"model",
		"thinking",
		"extensions",
		"modle",
		"__proto__",
	);
	const value = fc.oneof(
		fc.string({ unit: "binary" }),
		fc.constantFrom("*", "&a", "*a", "[", "{a: b}", "!!x y", "|", ">", "null", "- a", "'", '"', "all", "none", "../x"),
		fc.json(),
	);
	const frontMatter = fc
		.array(fc.tuple(field, value), { maxLength: 8 })
		.map((pairs) => `---\n${pairs.map(([key, text]) => `${key}: ${text}`).join("\n")}\n---\nbody`);

	test("never throws, and what it accepts holds its promises", () => {
		fc.assert(
			fc.property(fc.oneof(fc.string({ unit: "binary" }), frontMatter), fc.string(), (text, name) => {
				const result = parseAgentFile(text, `/agents/${name}.md`, "project");
				if (result.kind === "invalid") expect(result.problem.message).not.toBe("");
				if (result.kind !== "agent") return;
				expect(agentNameProblem(result.definition.name)).toBeUndefined();
				expect(result.definition.description).not.toBe("");
			}),
			{ numRuns: 2000 },
		);
	});
});
