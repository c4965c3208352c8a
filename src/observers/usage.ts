import type { AgentUsage } from "../events/agent-event.ts";

/** Tokens and money of a run so far. `input` excludes cached tokens; cost is in US dollars. */
export interface UsageTotals {
	readonly input: number;
	readonly output: number;
	readonly cacheRead: number;
	readonly cacheWrite: number;
	readonly cost: {
		readonly input: number;
		readonly output: number;
		readonly cacheRead: number;
		readonly cacheWrite: number;
		readonly total: number;
	};
	/** False as long as no source said anything: unknown is not 0. */
	readonly known: boolean;
}

export const NO_USAGE: UsageTotals = {
	input: 0,
	output: 0,
	cacheRead: 0,
	cacheWrite: 0,
	cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 },
	known: false,
};

/** Adds one report of usage. Fields that are missing or no numbers count as 0: the report comes from outside. */
export function addUsage(totals: UsageTotals, report: unknown): UsageTotals {
	if (!isObject(report)) return totals;
	const cost = isObject(report.cost) ? report.cost : {};
	return {
		input: totals.input + count(report.input),
		output: totals.output + count(report.output),
		cacheRead: totals.cacheRead + count(report.cacheRead),
		cacheWrite: totals.cacheWrite + count(report.cacheWrite),
		cost: {
			input: totals.cost.input + count(cost.input),
			output: totals.cost.output + count(cost.output),
			cacheRead: totals.cost.cacheRead + count(cost.cacheRead),
			cacheWrite: totals.cost.cacheWrite + count(cost.cacheWrite),
			total: totals.cost.total + count(cost.total),
		},
		known: true,
	};
}

/** In the shape that pi adds to its own totals from a tool result. */
export function toAgentUsage({ known: _known, ...totals }: UsageTotals): AgentUsage {
	return {
		...totals,
		totalTokens: totals.input + totals.output + totals.cacheRead + totals.cacheWrite,
	};
}

function isObject(value: unknown): value is Record<string, unknown> {
	return typeof value === "object" && value !== null;
}

function count(value: unknown): number {
	return typeof value === "number" && value > 0 && value <= Number.MAX_SAFE_INTEGER ? value : 0;
}
