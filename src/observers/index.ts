export { AgentRecord, type EndStatus, IllegalTransitionError, type RunStatus, type TurnUsage } from "./agent-record.ts";
export { type CompactionInfo, type RecordObserverOptions, subscribeRecordObserver } from "./record-observer.ts";
export {
	type ActiveTool,
	type ActivityPhase,
	type AgentActivity,
	createActivity,
	type FinishedTool,
	subscribeUIObserver,
} from "./ui-observer.ts";
export { toAgentUsage, type UsageTotals } from "./usage.ts";
