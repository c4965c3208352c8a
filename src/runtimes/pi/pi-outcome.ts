import { constants } from "node:os";
import type { ProcessOutcome } from "../../process/index.ts";
import { formatNumber } from "../../records/format.ts";
import type { AttemptOutcome } from "../outcome.ts";
import type { PiStreamFacts } from "./events-handler.ts";

/** All that the verdict on a pi child is made from. */
export interface PiAttemptFacts {
	readonly stream: PiStreamFacts;
	readonly process: ProcessOutcome;
	/** A stop that was asked for before the child said that it was done. */
	readonly stop: { readonly reason: string } | undefined;
	/** The child refused the task, with these words. */
	readonly promptError: string | undefined;
	/** An extension of the child took the task for itself, and no run began. */
	readonly promptHandled: boolean;
	readonly deniedDialogs: readonly string[];
	/** Lines over the limit: nobody saw what was in them. */
	readonly overlongLines: number;
	/** The child closed its output, stayed, and had to be ended. */
	readonly outputLost: boolean;
}

/** How much of stderr a reason quotes, in characters. */
const REASON_CHARACTERS = 1000;
/** What a provider calls an answer that it or its model would not give. */
const REFUSALS = new Set(["content_filter", "refusal", "safety"]);

/**
 * Decides how a pi child ended. pi's exit code says nothing about the model, so the stream decides; what we stopped is
 * stopped, whatever it said afterwards; and without a last word there is no success.
 */
export function decidePiOutcome(facts: PiAttemptFacts): AttemptOutcome {
	const { stream, process, stop } = facts;
	const warnings = warningsOf(facts);
	const last = stream.lastAssistant;
	const answered = last?.stopReason === "stop" || last?.stopReason === "length";
	const answer = answered && last.text ? last.text : null;
	const end = (
		status: AttemptOutcome["status"],
		exitPath: AttemptOutcome["exitPath"],
		reason: string,
	): AttemptOutcome => ({
		status,
		exitPath,
		answer,
		reason,
		warnings,
	});
	if (process.spawnError) return end("failed", "spawn-failed", `pi could not be started: ${process.spawnError}`);
	if (stop) return end("stopped", "stopped", stop.reason);
	if (facts.promptError) return end("failed", "refused", facts.promptError);
	if (facts.promptHandled)
		return end(
			"failed",
			"refused",
			"An extension of the child took the task for a command of its own; no model saw it.",
		);
	if (!stream.settled && facts.outputLost)
		return end("failed", "incomplete", "The child closed its output before it was done, and had to be ended.");
	if (!stream.settled) return withoutLastWord(facts, end);
	if (stream.settled.aborted)
		return end("failed", "incomplete", "The child gave up its run: one of its extensions aborted it.");
	if (answered) return end("completed", "done", "");
	if (last?.stopReason !== "error") return end("failed", "incomplete", "The run ended without an answer of the model.");
	const reason = last.errorMessage ?? "The provider gave no reason.";
	return end("failed", REFUSALS.has(last.rawStopReason ?? "") ? "refused" : "provider-error", reason);
}

type End = (status: "failed", exitPath: AttemptOutcome["exitPath"], reason: string) => AttemptOutcome;

function withoutLastWord({ stream, process }: PiAttemptFacts, end: End): AttemptOutcome {
	const how = describeExit(process);
	const stderr = withoutExpected(process.stderrTail).slice(-REASON_CHARACTERS).toWellFormed();
	const said = stderr ? `: ${stderr}` : stream.noiseSample ? `: ${stream.noiseSample}` : " and said nothing on stderr";
	if (process.code === 0) return end("failed", "incomplete", `pi ended before the run was over (${how})${said}`);
	if (!stream.started) return end("failed", "spawn-failed", `pi ended before it began (${how})${said}`);
	const memory = process.stderrTail.includes("heap out of memory") ? " It ran out of memory." : "";
	return end("failed", "crashed", `pi ended in the middle of the run (${how})${said}${memory}`);
}

/** `exit code 1`, `signal SIGKILL`, `exit code 143, after SIGTERM`. */
export function describeExit({ code, signal }: Pick<ProcessOutcome, "code" | "signal">): string {
	if (signal) return `signal ${signal}`;
	if (code === null) return "no exit code";
	// Shells and programs that catch a signal report it as 128 + its number.
	const caught = Object.entries(constants.signals).find(([, number]) => number === code - 128)?.[0];
	return caught ? `exit code ${code}, after ${caught}` : `exit code ${code}`;
}

function warningsOf({ stream, process, deniedDialogs, stop, overlongLines }: PiAttemptFacts): string[] {
	const last = stream.lastAssistant;
	const warnings: string[] = [];
	if (stream.settled && last?.stopReason === "stop" && !last.text.trim()) warnings.push("The answer is empty.");
	if (last?.stopReason === "length") warnings.push("The answer was cut at the token limit.");
	if (stream.noiseLines > 0)
		warnings.push(
			`Output that was no record: ${formatNumber(stream.noiseLines, "line")}${stream.noiseSample ? `, the first: ${stream.noiseSample}` : ""}`,
		);
	if (stream.malformedRecords > 0)
		warnings.push(`Records of an unknown shape: ${formatNumber(stream.malformedRecords, "line")}.`);
	for (const text of piWarnings(process.stderrTail)) warnings.push(`pi warned: ${text}`);
	for (const error of stream.extensionErrors) warnings.push(`Extension error: ${error}`);
	if (overlongLines > 0) warnings.push(`Too long to be read: ${formatNumber(overlongLines, "line")}.`);
	for (const title of deniedDialogs) warnings.push(`Denied, since nobody could be asked: ${title}`);
	if (process.leftovers.length > 0) warnings.push(`Left running: pid ${process.leftovers.join(", ")}.`);
	if (process.forcedExit && stream.settled && !stop)
		warnings.push("The child had to be ended after its work was done.");
	return warnings;
}

/** That a session is new is what we want of it; everything else that pi warns of, a model it does not know above all, is news. */
const EXPECTED_WARNING = /^Warning: No project session found with id.*(?:\n|$)/gm;
const MAX_PI_WARNINGS = 5;

function piWarnings(stderr: string): string[] {
	const texts = [...withoutExpected(stderr).matchAll(/^Warning: (.+)$/gm)].map(([, text = ""]) => text.trim());
	return [...new Set(texts)].slice(0, MAX_PI_WARNINGS);
}

function withoutExpected(stderr: string): string {
	return stderr.replace(EXPECTED_WARNING, "").trim();
}
