import type { Theme } from "@earendil-works/pi-coding-agent";
import { visibleWidth } from "@earendil-works/pi-tui";
import { describe, expect, test } from "vitest";
import type { RunView } from "../../src/extension/run-view.ts";
import { safeComponent } from "../../src/extension/safe-component.ts";
import { renderCall, renderRun } from "../../src/extension/tool-card.ts";

/** Colours make no difference to what is shown. */
const theme = { fg: (_color: string, text: string) => text, bold: (text: string) => text } as Theme;
const hostile = `\u001b]0;title\u0007\u001b[2J\u001b]52;c;aGk=\u0007${"界".repeat(30)}👩‍👩‍👧‍👦\t\r${"x".repeat(200)}\u009b31m\u0000\ud83d`;

function view(changes: Partial<RunView> = {}): RunView {
	return {
		runId: "01890000-0000-7000-8000-0000abcdef01",
		agent: hostile,
		status: "running",
		exitPath: undefined,
		reason: "",
		warnings: [],
		model: "mock/m1",
		turns: 2,
		toolUses: 3,
		usage: {
			input: 1200,
			output: 30,
			cacheRead: 0,
			cacheWrite: 0,
			cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0.01 },
			known: true,
		},
		doing: "bash npm test",
		recentTools: Array.from({ length: 6 }, (_, i) => ({ text: `read file-${i}`, isError: false })),
		answer: "",
		durationMs: 4100,
		recordDir: "/records/1",
		...changes,
	};
}

const text = (lines: readonly string[]) => lines.join("\n");

describe.each([0, 1, 3, 20, 80, 200])("E1, E7: at %i columns", (width) => {
	test.each([
		["the call", renderCall({ agent: hostile, task: hostile }, theme)],
		["a running run", renderRun(view({ doing: "界".repeat(100) }), false, theme)],
		[
			"a failed run",
			renderRun(view({ status: "failed", reason: hostile, warnings: [hostile], answer: hostile }), false, theme),
		],
	])("%s fits, and no control sequence of the child is left", (_what, card) => {
		for (const line of card.render(width)) {
			expect(visibleWidth(line)).toBeLessThanOrEqual(width);
			// Colours of the theme are none of these: they start with ESC [ and end with m.
			for (const forbidden of ["\u001b]", "\u001b[2J", "\u0007", "\u009b", "\u0000"])
				expect(line).not.toContain(forbidden);
		}
	});
});

test("a folded card shows the last tool calls, what is going on, and the numbers", () => {
	const shown = text(renderRun(view(), false, theme).render(100));
	expect(shown).toContain("● abcdef01 · running · 2 turns · 3 tool uses · ↑1.2k ↓30 · $0.0100 · mock/m1 · 4.1s");
	expect(shown).toContain("read file-5");
	expect(shown).not.toContain("read file-2");
	expect(shown).toContain("bash npm test");
});

test("the reason of an end is on the card", () => {
	const shown = text(
		renderRun(view({ status: "failed", exitPath: "provider-error", reason: "401: no key" }), false, theme).render(80),
	);
	expect(shown).toContain("✗ abcdef01 · failed (provider-error)");
	expect(shown).toContain("401: no key");
});

test("what throws while drawing is shown as a line, not thrown", () => {
	const broken = safeComponent({
		render: () => {
			throw new Error("boom");
		},
		invalidate: () => undefined,
	});
	expect(broken.render(40)).toEqual(["cannot be shown: boom"]);
	expect(visibleWidth(text(broken.render(6)))).toBe(6);
});
