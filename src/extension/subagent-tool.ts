import {
	type AgentToolResult,
	defineTool,
	type ExtensionAPI,
	type ExtensionContext,
	type ToolDefinition,
} from "@earendil-works/pi-coding-agent";
import { Text } from "@earendil-works/pi-tui";
import { Type } from "typebox";
import { formatRoster } from "../agents/agent-roster.ts";
import type { AgentManager } from "../manager/agent-manager.ts";
import { printableText } from "../manager/describe-activity.ts";
import type { Catalogue } from "../manager/load-catalogue.ts";
import { planRun, type RunPlan, RunRefusedError } from "../manager/prepare-run.ts";
import { resultText } from "../manager/result-text.ts";
import type { AttemptInfo } from "../manager/spawn-options.ts";
import { createActivity, subscribeUIObserver, toAgentUsage } from "../observers/index.ts";
import { RUN_OPTIONS } from "../settings/option-table.ts";
import type { FlightdeckSettings } from "../settings/read-settings.ts";
import { callerOf } from "./parent-session.ts";
import { isProjectTrusted } from "./project-trust.ts";
import { type RunView, viewRun } from "./run-view.ts";
import { safeComponent } from "./safe-component.ts";
import { renderCall, renderRun } from "./tool-card.ts";

/** What the tool needs of the extension around it. */
export interface SubagentToolContext {
	readonly pi: ExtensionAPI;
	/** Made at the first run: nothing is started when the extension is loaded. */
	manager(settings: FlightdeckSettings): AgentManager;
	/** Agents and settings as they are on disk now. */
	load(ctx: ExtensionContext): Promise<Catalogue>;
}

/** Undefined for a request that was refused: there is no run to show then. */
type Details = RunView | undefined;

const text = (option: keyof typeof RUN_OPTIONS) => Type.String({ description: RUN_OPTIONS[option].description });

const parameters = Type.Object({
	agent: text("agent"),
	task: text("task"),
	model: Type.Optional(text("model")),
	thinking: Type.Optional(text("thinking")),
	cwd: Type.Optional(text("cwd")),
});

/** The `subagent` tool: one task, one child, its answer. */
export function subagentTool(known: Catalogue, context: SubagentToolContext) {
	return defineTool<typeof parameters, Details>({
		name: "subagent",
		label: "Subagent",
		description: `Hand a task to another agent with a context of its own and get its answer. Agents: ${formatRoster(known.catalogue.agents)}`,
		promptSnippet: "Hand a self-contained task to another agent",
		parameters,
		// Not for scripts: they would start agents in loops.
		exposure: "model-only",
		async execute(_toolCallId, params, signal, onUpdate, ctx) {
			try {
				const loaded = await context.load(ctx);
				const plan = planRun(params, callerOf(context.pi, ctx), loaded);
				return await run(plan, context.manager(loaded.settings), context.pi, ctx, signal, onUpdate);
			} catch (error) {
				if (!(error instanceof RunRefusedError)) throw error;
				return { content: [{ type: "text", text: error.message }], details: undefined, isError: true };
			}
		},
		renderCall: (args, theme) => renderCall(args, theme),
		renderResult: ({ details, content }, { expanded, isPartial }, theme) => {
			if (details) return renderRun(details, expanded, theme);
			// Without a run it waits for its turn, or was refused.
			const text = content[0]?.type === "text" ? content[0].text : "";
			return safeComponent(new Text(theme.fg(isPartial ? "muted" : "error", printableText(text)), 0, 0));
		},
	});
}

type OnUpdate = Parameters<ToolDefinition<typeof parameters, Details>["execute"]>[3];

async function run(
	plan: RunPlan,
	manager: AgentManager,
	pi: ExtensionAPI,
	ctx: ExtensionContext,
	signal: AbortSignal | undefined,
	onUpdate: OnUpdate,
): Promise<AgentToolResult<Details>> {
	const activity = createActivity();
	let about: { agent: string; model: string | undefined; recordDir: string | undefined } = {
		agent: plan.agent.name,
		model: plan.model.value,
		recordDir: undefined,
	};
	let unsubscribe: () => void = () => undefined;
	onUpdate?.({ content: [{ type: "text", text: "queued" }], details: undefined });
	const result = await manager
		.spawnAndWait({
			...plan,
			projectTrusted: isProjectTrusted(pi, ctx),
			startedBy: "tool",
			parentSessionId: ctx.sessionManager.getSessionId(),
			signal,
			onProcessCreated: (process, { record, recordDir }: AttemptInfo) => {
				about = { ...about, recordDir };
				const show = () => {
					// The end is shown with the result: by then the record is written.
					if (record.ended) return;
					const view = viewRun(record, activity, about);
					onUpdate?.({ content: [{ type: "text", text: view.doing }], details: view });
				};
				unsubscribe = subscribeUIObserver(process.bus, activity, show);
				show();
			},
		})
		.finally(() => unsubscribe());
	about = { ...about, model: result.model ?? about.model, recordDir: result.recordDir };
	const { record, outcome } = result;
	return {
		content: [{ type: "text", text: resultText(result) }],
		details: viewRun(record, activity, about, outcome),
		...(record.lifetimeUsage.known ? { usage: toAgentUsage(record.lifetimeUsage) } : {}),
		isError: outcome.status !== "completed",
	};
}
