import { formatCost, formatCount, formatDuration, formatNumber } from "./format.ts";
import type { RunManifest } from "./run-manifest.ts";

/** How much of task and result the summary shows, in characters; the whole is in the files it names. */
const TASK_CHARACTERS = 4000;
const RESULT_CHARACTERS = 20_000;

/** The run on one page, for people. */
export function formatSummary(manifest: RunManifest, answer: string | null): string {
	const { meta } = manifest;
	const attempt = manifest.attempts.at(-1);
	const sections = [
		["Run", table(runRows(manifest))],
		[
			"Environment",
			table([
				["pi-flightdeck", `${meta.flightdeck.version} (${meta.flightdeck.path})`],
				["pi", `${meta.pi.version ?? "unknown"} (${meta.pi.foundBy})`],
				["Node.js", `${meta.node} on ${meta.platform}`],
				["Model", `${attempt?.model ?? meta.model.id ?? "unknown"} (via ${meta.model.source})`],
				["Thinking", `${meta.thinking.level ?? "default"} (via ${meta.thinking.source})`],
				["Working directory", manifest.cwd],
			]),
		],
		["Run stats", table(statRows(manifest))],
		["Task", quoted(manifest.task, TASK_CHARACTERS, "run.json")],
		["Result", answer === null ? "No answer." : quoted(answer, RESULT_CHARACTERS, `result-${attempt?.number ?? 1}.md`)],
		["What went wrong", problems(manifest)],
	];
	const body = sections.filter(([, text]) => text).map(([title, text]) => `## ${title}\n\n${text}\n`);
	return `# ${manifest.agent.name}: ${manifest.status}\n\n${body.join("\n")}`;
}

function runRows(manifest: RunManifest): [string, string][] {
	return [
		["Run id", manifest.runId],
		["Agent", `${manifest.agent.name} (${manifest.agent.source}: ${manifest.agent.file})`],
		["Status", `${manifest.status}${manifest.exitPath ? ` (${manifest.exitPath})` : ""}`],
		["Started", manifest.createdAt],
		["Ended", manifest.completedAt ?? "not yet"],
	];
}

function statRows({ usage, counters, createdAt, completedAt }: RunManifest): [string, string][] {
	const rows: [string, string][] = [
		["Duration", completedAt ? formatDuration(Date.parse(completedAt) - Date.parse(createdAt)) : "running"],
		["Turns", String(counters.turns)],
		[
			"Tool calls",
			`${counters.toolUses}${counters.toolErrors ? `, ${formatNumber(counters.toolErrors, "error")}` : ""}`,
		],
		["Retries", String(counters.retries)],
		["Compactions", String(counters.compactions)],
	];
	if (!usage.known) return [...rows, ["Tokens and cost", "unknown"]];
	return [
		...rows,
		[
			"Tokens",
			`${formatCount(usage.input)} in, ${formatCount(usage.output)} out, ${formatCount(usage.cacheRead)} cache read, ${formatCount(usage.cacheWrite)} cache write`,
		],
		["Cost", formatCost(usage.cost.total)],
	];
}

function table(rows: readonly [string, string][]): string {
	const cell = (text: string) => text.replaceAll("|", "\\|").replace(/\s+/g, " ");
	return ["| | |", "|---|---|", ...rows.map(([name, value]) => `| ${name} | ${cell(value)} |`)].join("\n");
}

/** Foreign text in a fence that it cannot close: one longer than any run of backticks in it. */
function quoted(text: string, limit: number, whole: string): string {
	const shown = text.length > limit ? text.slice(0, limit).toWellFormed() : text;
	const longest = Math.max(2, ...(shown.match(/`+/g) ?? []).map((run) => run.length));
	const fence = "`".repeat(longest + 1);
	const more =
		text.length > limit ? `\n\nThe first ${limit} of ${text.length} characters; the whole is in ${whole}.` : "";
	return `${fence}\n${shown}\n${fence}${more}`;
}

function problems({ reason, warnings, status, recordComplete, attempts }: RunManifest): string {
	const exit = attempts.at(-1)?.exit;
	const stderr = status === "failed" && exit?.stderrTail.trim() ? exit.stderrTail.trim() : "";
	return [
		reason && `${status === "stopped" ? "Stopped" : "Reason"}: ${reason}`,
		...warnings.map((warning) => `- ${warning}`),
		recordComplete ? "" : "- The disk failed: this record is incomplete.",
		stderr && `The end of stderr:\n\n${quoted(stderr, TASK_CHARACTERS, "run.json")}`,
	]
		.filter(Boolean)
		.join("\n");
}
