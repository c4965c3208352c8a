import { describe, expect, test } from "vitest";
import { agentNameProblem } from "../../src/agents/agent-name.ts";

describe("agentNameProblem", () => {
	test.each([
		"scout",
		"code-reviewer",
		"v1.2",
		"a",
		"_private",
		"Über-Prüfer",
		"レビュー",
		"हिन्दी",
		"9lives",
		"a".repeat(64),
		"console",
		"com",
		"ａ",
	])("accepts %j", (name) => {
		expect(agentNameProblem(name)).toBeUndefined();
	});

	test.each([
		["", "empty"],
		["a".repeat(65), "at most 64"],
		["x".repeat(1_000_000), "at most 64"],
		["../x", "consists of"],
		["../../x", "consists of"],
		["/etc/x", "consists of"],
		["a/b", "consists of"],
		["a\\b", "consists of"],
		["C:evil", "consists of"],
		["a b", "consists of"],
		["a\0", "consists of"],
		["a\nb", "consists of"],
		["\u001b[31mred", "consists of"],
		["user\u202etxt", "consists of"],
		["zero\u200bwidth", "consists of"],
		["tag\u{e0041}", "consists of"],
		["lone\ud800", "consists of"],
		["$(touch x)", "consists of"],
		["a`b`", "consists of"],
		["🚀", "consists of"],
		["..", "starts with"],
		[".", "starts with"],
		[".hidden", "starts with"],
		["-rf", "starts with"],
		["\u0301x", "starts with"],
		["name.", "can't end"],
		["u\u0308ber", "NFC"],
		["CON", "device"],
		["nul", "device"],
		["Aux", "device"],
		["com1", "device"],
		["LPT9.txt", "device"],
	])("refuses %j", (name, reason) => {
		expect(agentNameProblem(name)).toContain(reason);
	});
});
