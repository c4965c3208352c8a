import { homedir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { THINKING_LEVELS, type ThinkingLevel } from "./agent-definition.ts";
import type { AgentField } from "./field-names.ts";
import { cutToBytes, oneLine } from "./one-line.ts";

/** A field holds something that it can't hold. The message says what would be right. */
export class InvalidField extends Error {
	readonly field: AgentField;

	constructor(field: AgentField, expected: string) {
		super(`\`${field}\` ${expected}`);
		this.field = field;
	}
}

/** A plain text, trimmed. */
export function readText(field: AgentField, value: unknown): string {
	if (typeof value !== "string") throw new InvalidField(field, `must be a text; it is ${kindOf(value)}`);
	return value.trim();
}

/** Names of pi's tools; empty for none, undefined for no restriction. */
export function readTools(value: unknown): readonly string[] | undefined {
	const expected = "must be a comma list or a list of tool names, or `all` or `none`";
	const items = readList("tools", value, expected).flatMap((item) => item.split(","));
	const names = items.map((item) => item.trim()).filter((item) => item !== "");
	if (names.length === 0) {
		if (items.length === 0) return [];
		throw new InvalidField("tools", `${expected}; it names none`);
	}
	const word = names.find((name) => /^(?:all|\*|none)$/i.test(name));
	if (word === undefined) return [...new Set(names.map(toolName))];
	if (names.length > 1) throw new InvalidField("tools", `can't combine \`${word}\` with other names`);
	return word.toLowerCase() === "none" ? [] : undefined;
}

/** pi's own tools, which other programs spell with capitals. */
export const PI_TOOLS: ReadonlySet<string> = new Set([
	"read",
	"bash",
	"powershell",
	"edit",
	"write",
	"grep",
	"find",
	"ls",
]);

/** Tools of Claude Code that pi has under another name. */
const CLAUDE_TOOLS = new Map([
	["Glob", "find"],
	["MultiEdit", "edit"],
]);

/** Tool names of extensions and MCP servers are kept as they are; `*` within a name is pi's pattern for several. */
function toolName(name: string): string {
	const limited = /^(\w+)\(/.exec(name);
	if (limited) {
		throw new InvalidField(
			"tools",
			`can't limit a tool by what is in parentheses; write \`${limited[1]}\` or leave it out`,
		);
	}
	// A leading `+` or `-` would make pi change its default selection instead of replacing it.
	if (!/^[\w*][\w.:/*-]{0,127}$/.test(name)) {
		throw new InvalidField("tools", `must hold names separated by commas; \`${shown(name)}\` is not a tool name`);
	}
	const lower = name.toLowerCase();
	return CLAUDE_TOOLS.get(name) ?? (PI_TOOLS.has(lower) ? lower : name);
}

/** A model id, pattern or alias, for pi to resolve. */
export function readModel(value: unknown): string | undefined {
	const model = readText("model", value);
	if (/^(?:inherit|default)$/i.test(model)) return undefined;
	if (model.startsWith("-") || model.length > 256 || oneLine(model) !== model) {
		throw new InvalidField("model", `must be the id of one model; it is \`${shown(model)}\``);
	}
	return model;
}

export function readThinking(value: unknown): ThinkingLevel | undefined {
	const expected = `must be one of ${THINKING_LEVELS.join(", ")}`;
	if (typeof value !== "string") throw new InvalidField("thinking", `${expected}; it is ${kindOf(value)}`);
	const word = value.trim().toLowerCase();
	if (word === "inherit" || word === "default") return undefined;
	const level = THINKING_LEVELS.find((known) => known === word);
	if (level === undefined) throw new InvalidField("thinking", `${expected}; it is \`${shown(value)}\``);
	return level;
}

/** Extensions for the child; a relative path starts at the folder of the agent file. */
export function readExtensions(value: unknown, file: string): "none" | "inherit" | readonly string[] {
	if (typeof value === "boolean") return value ? "inherit" : "none";
	const expected = "must be `none`, `inherit`, a path or a list of paths";
	const items = readList("extensions", value, expected).map((item) => item.trim());
	if (items.length === 0) return "none";
	const word = items.find((item) => item === "none" || item === "inherit");
	if (word !== undefined) {
		if (items.length > 1) throw new InvalidField("extensions", `can't combine \`${word}\` with paths`);
		return word === "none" ? "none" : "inherit";
	}
	// A path may hold a comma, but far more often a comma means a list.
	if (typeof value === "string" && value.includes(",")) {
		throw new InvalidField("extensions", "must be a YAML list if it has several paths");
	}
	return [...new Set(items.map((item) => extensionPath(item, file)))];
}

function extensionPath(path: string, file: string): string {
	// A scheme has two letters at least: one is a drive of Windows.
	if (path === "" || oneLine(path) !== path || /^[a-z][a-z\d+.-]+:/i.test(path)) {
		throw new InvalidField("extensions", `must hold paths of files; \`${shown(path)}\` is none`);
	}
	if (/^~[\\/]/.test(path)) return join(homedir(), path.slice(2));
	return resolve(dirname(file), path);
}

function readList(field: AgentField, value: unknown, expected: string): string[] {
	if (typeof value === "string") return [value];
	if (!Array.isArray(value)) throw new InvalidField(field, `${expected}; it is ${kindOf(value)}`);
	return value.map((item: unknown) => {
		if (typeof item !== "string") throw new InvalidField(field, `${expected}; the list holds ${kindOf(item)}`);
		return item;
	});
}

function kindOf(value: unknown): string {
	if (value === null || value === undefined) return "an empty value";
	if (Array.isArray(value)) return "a list";
	if (value instanceof Map) return "a mapping";
	if (typeof value === "boolean") return `\`${value}\``;
	return `a ${typeof value}`;
}

function shown(text: string): string {
	return cutToBytes(oneLine(text), 80);
}
