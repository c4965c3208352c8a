/** pi-flightdeck as a library: run agents as child processes, watch them, and read what their records say. */
export type { AgentDefinition, AgentProblem } from "./agents/agent-definition.ts";
export type { AgentCatalogue } from "./agents/discover-agents.ts";
export type { AgentEvent, AgentEventSource, ChildEvent, ObservedEvent } from "./events/agent-event.ts";
export { AgentManager, type ManagerOptions } from "./manager/agent-manager.ts";
export { type Catalogue, loadCatalogue } from "./manager/load-catalogue.ts";
export { type Caller, planRun, type RunPlan, RunRefusedError, type RunRequest } from "./manager/prepare-run.ts";
export type { AttemptInfo, RunResult, SpawnOptions } from "./manager/spawn-options.ts";
export * from "./observers/index.ts";
export * from "./process/index.ts";
export { flightdeckDirectory, type RunPaths, runPaths } from "./records/run-directory.ts";
export { isRunId, newRunId, shortRunId } from "./records/run-id.ts";
export type { RunManifest } from "./records/run-manifest.ts";
export type { AttemptOutcome, ExitPath } from "./runtimes/outcome.ts";
export * from "./runtimes/pi/index.ts";
export { locatePi, type PiClues, PiNotFoundError, type PiProgram } from "./runtimes/pi/locate-pi.ts";
