import type { ExtensionAPI, ExtensionContext } from "@earendil-works/pi-coding-agent";
import { PI_TOOLS } from "../agents/field-values.ts";
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
		// A session with an allow list knows of no others, not even of pi's own: these exist all the same.
		knownTools: [...new Set([...pi.getAllTools().map((tool) => tool.name), ...PI_TOOLS])],
		extensionProviders: ctx.modelRegistry.getRegisteredProviderIds(),
		knowsModel: (provider, id) => ctx.modelRegistry.find(provider, id) !== undefined,
		depth: currentDepth(process.env),
	};
}
