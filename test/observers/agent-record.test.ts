import { describe, expect, test, vi } from "vitest";
import {
	AgentRecord,
	type EndStatus,
	IllegalTransitionError,
	type RunStatus,
} from "../../src/observers/agent-record.ts";

const STATUSES: readonly RunStatus[] = [
	"queued",
	"starting",
	"running",
	"stopping",
	"completed",
	"failed",
	"stopped",
	"lost",
];

/** Every step that a run may take; all others are errors. */
const LEGAL: ReadonlySet<string> = new Set([
	"queued → starting",
	"queued → failed",
	"queued → stopped",
	"queued → lost",
	"starting → running",
	"starting → stopping",
	"starting → completed",
	"starting → failed",
	"starting → stopped",
	"starting → lost",
	"running → stopping",
	"running → completed",
	"running → failed",
	"running → stopped",
	"running → lost",
	"stopping → completed",
	"stopping → failed",
	"stopping → stopped",
	"stopping → lost",
]);

function recordIn(status: RunStatus): AgentRecord {
	if (status === "queued") return new AgentRecord("r", "queued");
	const record = new AgentRecord("r");
	if (status === "starting") return record;
	record.markRunning();
	if (status === "running") return record;
	if (status === "stopping") record.markStopping();
	else record.markEnded(status);
	return record;
}

function enter(record: AgentRecord, status: RunStatus): void {
	switch (status) {
		case "queued":
			throw new IllegalTransitionError(record.status, "queued");
		case "starting":
			record.markStarting();
			break;
		case "running":
			record.markRunning();
			break;
		case "stopping":
			record.markStopping();
			break;
		default:
			record.markEnded(status satisfies EndStatus);
	}
}

const STEPS = STATUSES.flatMap((from) => STATUSES.map((to) => ({ from, to, legal: LEGAL.has(`${from} → ${to}`) })));

describe("AgentRecord", () => {
	test.each(STEPS.filter(({ legal }) => legal))("$from → $to", ({ from, to }) => {
		const record = recordIn(from);
		enter(record, to);
		expect(record.status).toBe(to);
		expect(record.ended).toBe(["completed", "failed", "stopped", "lost"].includes(to));
	});

	test.each(STEPS.filter(({ legal }) => !legal))("$from → $to is refused", ({ from, to }) => {
		const record = recordIn(from);
		const { completedAt } = record;
		expect(() => enter(record, to)).toThrow(IllegalTransitionError);
		expect(() => enter(record, to)).toThrow(`A run that is ${from} cannot become ${to}.`);
		expect(record.status).toBe(from);
		expect(record.completedAt).toBe(completedAt);
	});

	test("knows when it was made, started and ended", () => {
		vi.useFakeTimers({ now: 1000 });
		try {
			const record = new AgentRecord("r", "queued");
			expect([record.createdAt, record.startedAt, record.completedAt]).toEqual([1000, undefined, undefined]);
			vi.setSystemTime(2000);
			record.markStarting();
			vi.setSystemTime(3000);
			record.markRunning();
			record.markStopping();
			expect([record.startedAt, record.completedAt, record.ended]).toEqual([2000, undefined, false]);
			vi.setSystemTime(4000);
			record.markEnded("stopped");
			expect([record.createdAt, record.startedAt, record.completedAt]).toEqual([1000, 2000, 4000]);
		} finally {
			vi.useRealTimers();
		}
	});

	test("keeps the last 500 turns", () => {
		const record = new AgentRecord("r");
		for (let turn = 1; turn <= 501; turn++) record.noteTurn({ turn, in: 1, out: 1 });
		expect(record.perTurn).toHaveLength(500);
		expect([record.perTurn[0]?.turn, record.perTurn.at(-1)?.turn]).toEqual([2, 501]);
	});
});
