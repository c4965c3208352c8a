import { describe, expect, test } from "vitest";
import { type PiChildOptions, piArguments, sessionName } from "../../../src/runtimes/pi/pi-arguments.ts";

const CHILD: PiChildOptions = {
	sessionDir: "/records/session",
	sessionId: "id-1",
	name: "scout: look",
	projectTrusted: false,
	model: undefined,
	thinking: undefined,
	tools: undefined,
	extensions: "none",
	childExtension: "/flightdeck/child.js",
	systemPromptFile: undefined,
};

/** What a change of the options adds to the command line, and what it takes away. */
function difference(changes: Partial<PiChildOptions>) {
	const [before, after] = [piArguments(CHILD), piArguments({ ...CHILD, ...changes })];
	return {
		added: after.filter((argument) => !before.includes(argument)),
		removed: before.filter((argument) => !after.includes(argument)),
	};
}

describe("piArguments", () => {
	test("of a child with defaults", () => {
		expect(piArguments(CHILD)).toEqual([
			...["--mode", "rpc", "--no-extensions", "-e", "/flightdeck/child.js"],
			...["--session-dir", "/records/session", "--session-id", "id-1", "--name", "scout: look", "--no-approve"],
		]);
	});

	test.each<[Partial<PiChildOptions>, string[], string[]]>([
		[{ projectTrusted: true }, ["--approve"], ["--no-approve"]],
		[{ model: "mock/m1" }, ["--model", "mock/m1"], []],
		[{ thinking: "high" }, ["--thinking", "high"], []],
		[{ tools: ["read", "bash"] }, ["--tools", "read,bash"], []],
		[{ tools: [] }, ["--no-tools"], []],
		[{ systemPromptFile: "/s.md" }, ["--append-system-prompt", "/s.md"], []],
		[{ extensions: "inherit" }, [], ["--no-extensions"]],
		[{ extensions: "inherit", tools: ["read"] }, ["--tools", "read", "--no-mcp"], ["--no-extensions"]],
		[{ extensions: "inherit", tools: [] }, ["--no-tools", "--no-mcp"], ["--no-extensions"]],
		[{ extensions: "inherit", tools: ["mcp__x"] }, ["--tools", "mcp__x"], ["--no-extensions"]],
		[{ extensions: [], tools: ["read"] }, ["--tools", "read"], []],
	])("%j", (changes, added, removed) => {
		expect(difference(changes)).toEqual({ added, removed });
	});

	test("named extensions stand each after its own flag, ours last", () => {
		const args = piArguments({ ...CHILD, extensions: ["/a.ts", "/b.ts"] });
		expect(args.slice(2, 9)).toEqual(["--no-extensions", "-e", "/a.ts", "-e", "/b.ts", "-e", "/flightdeck/child.js"]);
	});
});

describe("sessionName", () => {
	test.each([
		["short", "scout: short"],
		["two\nlines\r\n\tand a tab", "scout: two lines and a tab"],
		["bell\u0007 and \u001b[31mred", "scout: bell and [31mred"],
		["  spaces  ", "scout: spaces"],
		["separators\u2028and\u2029\u0085more", "scout: separators and more"],
		["", "scout:"],
	])("of %j is %j", (task, expected) => {
		expect(sessionName("scout", task)).toBe(expected);
	});

	test("has at most 80 characters, emoji counting as one and never torn", () => {
		expect(sessionName("a", "x".repeat(77))).toBe(`a: ${"x".repeat(77)}`);
		expect(sessionName("a", "x".repeat(78))).toBe(`a: ${"x".repeat(76)}…`);
		expect(sessionName("a", "\u{1f600}".repeat(77))).toBe(`a: ${"\u{1f600}".repeat(77)}`);
		const cut = sessionName("a", "\u{1f600}".repeat(500));
		expect([...cut]).toHaveLength(80);
		expect(cut.isWellFormed()).toBe(true);
	});
});
