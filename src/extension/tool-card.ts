import { getMarkdownTheme, type Theme } from "@earendil-works/pi-coding-agent";
import { type Component, Container, Markdown, Spacer, Text } from "@earendil-works/pi-tui";
import { describeCounters, printableLine, printableText } from "../manager/describe-activity.ts";
import { formatDuration } from "../records/format.ts";
import { shortRunId } from "../records/run-id.ts";
import type { RunView } from "./run-view.ts";
import { safeComponent } from "./safe-component.ts";

/** How many tool calls a folded card shows. */
const FOLDED_TOOLS = 3;
/** How many lines of the answer a folded card shows. */
const FOLDED_ANSWER_LINES = 5;

/** The line of a call before anything has happened: `subagent scout  find the parser`. */
export function renderCall(args: { agent?: string; task?: string }, theme: Theme): Component {
	const agent = theme.fg("accent", printableLine(args.agent ?? ""));
	const task = theme.fg("dim", printableLine(args.task ?? ""));
	return safeComponent(new Text(`${theme.fg("toolTitle", theme.bold("subagent"))} ${agent}  ${task}`, 0, 0));
}

/** The card of a run, live or ended, folded or not. */
export function renderRun(view: RunView, expanded: boolean, theme: Theme): Component {
	const card = new Container();
	const line = (text: string) => card.addChild(new Text(text, 0, 0));
	line(`${mark(view, theme)} ${theme.fg("muted", statusLine(view))}`);
	if (view.reason) line(theme.fg(view.status === "failed" ? "error" : "warning", printableText(view.reason)));
	for (const warning of view.warnings) line(theme.fg("warning", printableLine(warning)));
	const tools = expanded ? view.recentTools : view.recentTools.slice(-FOLDED_TOOLS);
	for (const tool of tools) line(`  ${theme.fg(tool.isError ? "error" : "dim", tool.text)}`);
	if (view.doing) line(`  ${theme.fg("toolOutput", view.doing)}`);
	addAnswer(card, view, expanded, theme);
	if (expanded && view.recordDir) line(theme.fg("dim", printableLine(view.recordDir, 1000)));
	return safeComponent(card);
}

function addAnswer(card: Container, { answer }: RunView, expanded: boolean, theme: Theme): void {
	if (!answer.trim()) return;
	if (expanded) {
		card.addChild(new Spacer(1));
		card.addChild(new Markdown(printableText(answer), 0, 0, getMarkdownTheme()));
		return;
	}
	const lines = printableText(answer).trim().split("\n");
	const shown = lines.slice(0, FOLDED_ANSWER_LINES).join("\n");
	const more = lines.length > FOLDED_ANSWER_LINES ? `\n… +${lines.length - FOLDED_ANSWER_LINES} lines` : "";
	card.addChild(new Text(theme.fg("toolOutput", shown + more), 0, 0));
}

function mark({ status }: RunView, theme: Theme): string {
	if (status === "completed") return theme.fg("success", "✓");
	if (status === "failed" || status === "lost") return theme.fg("error", "✗");
	if (status === "stopped") return theme.fg("warning", "■");
	return theme.fg("accent", "●");
}

function statusLine(view: RunView): string {
	const status = view.exitPath && view.exitPath !== "done" ? `${view.status} (${view.exitPath})` : view.status;
	const counters = describeCounters({ turns: view.turns, toolUses: view.toolUses, lifetimeUsage: view.usage });
	const parts = [shortRunId(view.runId), status, counters, view.model, formatDuration(view.durationMs)];
	return printableLine(parts.filter(Boolean).join(" · "), 400);
}
