import { describe, expect, test } from "vitest";
import { createRedactor, redactJson } from "../../src/records/redaction.ts";

const ENV = {
	OPENAI_API_KEY: "abcdef-secret-1234",
	LONGER_TOKEN: "abcdef-secret-1234-and-more",
	my_password: 'with "quotes" and \\ in it',
	AWS_CREDENTIALS: "credentials-value",
	SHORT_KEY: "tiny",
	KEYBOARD: "keyboard-layout-de",
	PATH: "/usr/bin:/usr/local/bin",
	EMPTY_SECRET: undefined,
};

describe("secrets of the environment are masked", () => {
	const redact = createRedactor(ENV);

	test.each([
		["by name", "key=abcdef-secret-1234;", "key=[redacted];"],
		["every time", "abcdef-secret-1234 abcdef-secret-1234", "[redacted] [redacted]"],
		["the longer one whole", "abcdef-secret-1234-and-more", "[redacted]"],
		["in small letters too", 'with "quotes" and \\ in it', "[redacted]"],
		["in plural", "credentials-value", "[redacted]"],
	])("%s", (_how, text, expected) => {
		expect(redact(text)).toBe(expected);
	});

	test("inside of JSON, which stays JSON", () => {
		const text = redact(JSON.stringify({ said: `it is ${ENV.my_password}!` }));
		expect(JSON.parse(text)).toEqual({ said: "it is [redacted]!" });
	});

	test.each(["tiny", "keyboard-layout-de", "/usr/bin:/usr/local/bin", "nothing here", ""])("%j is none", (text) => {
		expect(redact(text)).toBe(text);
	});
});

describe("secrets are masked by their form", () => {
	const redact = createRedactor({});

	test.each([
		["sk-proj-abcdefghijklmnop1234", "[redacted]"],
		["ghp_abcdefghijklmnopqrstuvwxyz", "[redacted]"],
		["github_pat_11AAAAAAA0abcdefghijklmn", "[redacted]"],
		["xoxb-123456789012-abc", "[redacted]"],
		["AKIAIOSFODNN7EXAMPLE", "[redacted]"],
		["Authorization: Bearer abcdefghijklmnopqrst==", "Authorization: Bearer [redacted]"],
		["401: invalid key sk-abcdefghijklmnop0000, sorry", "401: invalid key [redacted], sorry"],
		["two: ghp_abcdefghijklmnopqrstuvwxyz ghs_abcdefghijklmnopqrstuvwxyz", "two: [redacted] [redacted]"],
	])("%s", (text, expected) => {
		expect(redact(text)).toBe(expected);
	});

	test.each(["sk-short", "task-sk-ipping-the-rest", "Bearer of news", "ghp_short", "desk-abcdefghijklmnopqrstuv"])(
		"%s is none",
		(text) => {
			expect(redact(text)).toBe(text);
		},
	);
});

describe("JSON", () => {
	const redact = createRedactor({ A_KEY: '"status": "completed",', B_TOKEN: "abcdefghijklmnop" });

	test("stays JSON, whatever a secret looks like", () => {
		const json = JSON.stringify({
			status: "completed",
			note: 'my "status": "completed", key',
			list: ["abcdefghijklmnop"],
		});
		expect(JSON.parse(redactJson(json, redact))).toEqual({
			status: "completed",
			note: "my [redacted] key",
			list: ["[redacted]"],
		});
	});

	test("without a secret in it is the same text", () => {
		const json = '{ "a" :1,"b":"\\u00e4"}';
		expect(redactJson(json, redact)).toBe(json);
	});

	test("masks names of fields too", () => {
		expect(redactJson('{"abcdefghijklmnop":1}', redact)).toBe('{"[redacted]":1}');
	});
});
