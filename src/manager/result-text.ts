import { randomBytes } from "node:crypto";
import { boundText } from "../records/bounded-text.ts";
import { shortRunId } from "../records/run-id.ts";
import { describeCounters } from "./describe-activity.ts";
import type { RunResult } from "./spawn-options.ts";

/** How much of an answer the parent's model gets: as much as pi gives it of a tool's output. */
const ANSWER_BOUNDS = { maxBytes: 50 * 1024, maxLines: 2000 };

const MAX_WARNINGS = 10;

/**
 * What the parent's model is told of a run: what happened in our words, and the child's own words fenced off as output,
 * so that they are not taken for instructions or for ours. The fence has a random part that the child cannot know.
 */
export function resultText(result: RunResult): string {
	const { outcome, record, resultFile, recordDir } = result;
	const run = shortRunId(record.runId);
	const head = [
		`Run ${run} ${outcome.status}${outcome.exitPath === "done" ? "" : ` (${outcome.exitPath})`} · ${describeCounters(record)}`,
		...(outcome.status === "failed" ? ["The reason it failed:", fence(run, "reason", outcome.reason)] : []),
		...(outcome.status === "stopped" ? [`Reason: ${outcome.reason}`] : []),
		...outcome.warnings.slice(0, MAX_WARNINGS).map((warning) => `Warning: ${oneFencedLine(warning)}`),
		...(outcome.warnings.length > MAX_WARNINGS
			? [`${outcome.warnings.length - MAX_WARNINGS} more warnings are in the record.`]
			: []),
		...(result.recordProblem ? [`Warning: the run record is incomplete: ${result.recordProblem}`] : []),
	];
	const answer = boundText(outcome.answer ?? "", ANSWER_BOUNDS);
	const tail = [
		...(outcome.answer ? [fence(run, "output", answer.text)] : outcome.status === "completed" ? ["(no answer)"] : []),
		...(answer.omittedBytes > 0
			? [
					resultFile
						? `${answer.omittedBytes} bytes more are in ${resultFile}`
						: `${answer.omittedBytes} bytes more could not be kept.`,
				]
			: []),
		...(recordDir ? [`Record: ${recordDir}`] : []),
	];
	return [...head, ...tail].join("\n");
}

function fence(run: string, what: string, text: string): string {
	const tag = `run-${run}-${what}-${randomBytes(4).toString("hex")}`;
	return `<${tag}>\n${boundText(text, ANSWER_BOUNDS).text}\n</${tag}>`;
}

/** Warnings may quote the child: one line, so that they cannot look like lines of ours. */
function oneFencedLine(text: string): string {
	return JSON.stringify(boundText(text.replace(/\s+/g, " "), { maxBytes: 500, maxLines: 1 }).text).slice(1, -1);
}
