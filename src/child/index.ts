import type { ExtensionAPI } from "@earendil-works/pi-coding-agent";

/**
 * Loaded into every pi child. It spares a model call: pi may compact the context of a child that has given its last
 * answer, although nobody will ask it anything again.
 */
export default function flightdeckChild(pi: ExtensionAPI): void {
	let answered = false;
	pi.on("turn_start", () => {
		answered = false;
	});
	pi.on("turn_end", (event) => {
		answered = event.toolResults.length === 0;
	});
	pi.on("session_before_compact", (event, ctx) => {
		// Messages still queued mean that the conversation goes on.
		if (answered && event.reason === "threshold" && !ctx.hasPendingMessages()) return { cancel: true };
		return undefined;
	});
}
