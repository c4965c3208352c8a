import { describeActivity, describeTool } from "../manager/describe-activity.ts";
import type { AgentActivity, AgentRecord, RunStatus, UsageTotals } from "../observers/index.ts";
import { boundText } from "../records/bounded-text.ts";
import type { AttemptOutcome } from "../runtimes/outcome.ts";

/**
 * A run as the tool card shows it. It is stored in the session with the tool result, so that the card can be drawn again
 * after a restart: plain data, bounded, at most 32 KB.
 */
export interface RunView {
	readonly runId: string;
	readonly agent: string;
	readonly status: RunStatus;
	readonly exitPath: string | undefined;
	readonly reason: string;
	readonly warnings: readonly string[];
	readonly model: string | undefined;
	readonly turns: number;
	readonly toolUses: number;
	readonly usage: UsageTotals;
	/** What it does now; empty once ended. */
	readonly doing: string;
	/** The last tool calls, oldest first. */
	readonly recentTools: readonly { readonly text: string; readonly isError: boolean }[];
	/** The start of the answer; the whole is in the record. */
	readonly answer: string;
	/** Milliseconds. */
	readonly durationMs: number;
	readonly recordDir: string | undefined;
}

const ANSWER_BOUNDS = { maxBytes: 16 * 1024, maxLines: 400 };
const REASON_BOUNDS = { maxBytes: 2048, maxLines: 20 };
const WARNING_BOUNDS = { maxBytes: 300, maxLines: 2 };
const MAX_WARNINGS = 8;

/** The view of a run at this moment; with its outcome once it has ended. */
export function viewRun(
	record: AgentRecord,
	activity: AgentActivity,
	about: { readonly agent: string; readonly model: string | undefined; readonly recordDir: string | undefined },
	outcome?: AttemptOutcome,
): RunView {
	return {
		runId: record.runId,
		agent: about.agent,
		status: record.status,
		exitPath: outcome?.exitPath,
		reason: boundText(outcome?.reason ?? "", REASON_BOUNDS).text,
		warnings: (outcome?.warnings ?? [])
			.slice(0, MAX_WARNINGS)
			.map((warning) => boundText(warning, WARNING_BOUNDS).text),
		model: about.model,
		turns: record.turns,
		toolUses: record.toolUses,
		usage: record.lifetimeUsage,
		doing: outcome ? "" : describeActivity(activity),
		recentTools: activity.recentTools.map((tool) => ({
			text: describeTool(tool.name, tool.args),
			isError: tool.isError,
		})),
		answer: boundText(outcome?.answer ?? "", ANSWER_BOUNDS).text,
		durationMs: (record.completedAt ?? Date.now()) - (record.startedAt ?? record.createdAt),
		recordDir: about.recordDir,
	};
}
