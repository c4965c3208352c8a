import type { ExtensionAPI, ExtensionContext } from "@earendil-works/pi-coding-agent";
import type { Caller } from "../manager/prepare-run.ts";
import { currentDepth } from "../runtimes/pi/pi-environment.ts";

/** What a run inherits from the session that asks for it. */
export function callerOf(pi: ExtensionAPI, ctx: ExtensionContext): Caller {
	return {
		explicitSource: "parameter",
		cwd: ctx.cwd,
		model: ctx.model && `${ctx.model.provider}/${ctx.model.id}`,
		thinking: ctx.thinkingLevel ?? pi.getThinkingLevel(),
		activeTools: pi.getActiveTools(),
		knownTools: pi.getAllTools().map((tool) => tool.name),
		extensionProviders: ctx.modelRegistry.getRegisteredProviderIds(),
		depth: currentDepth(process.env),
	};
}
