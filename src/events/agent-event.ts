import type { Usage } from "@earendil-works/pi-ai";
import type { JsonAgentSessionEvent } from "@earendil-works/pi-coding-agent";

/** Tokens and money of model calls, in pi's shape: `input` excludes cached tokens, `cost` is in US dollars. */
export type AgentUsage = Usage;

/** First line of pi's JSON mode; RPC mode has none. */
interface SessionHeaderEvent {
	readonly type: "session";
	readonly id: string;
	readonly version?: number;
	readonly timestamp?: string;
	readonly cwd?: string;
}

/** An error in an extension of the child, as RPC mode reports it. */
interface ExtensionErrorEvent {
	readonly type: "extension_error";
	readonly extensionPath?: string;
	readonly event?: string;
	readonly error?: string;
}

/** What a child agent says, whatever its CLI: pi's session events, which other CLIs are translated into. */
export type AgentEvent = JsonAgentSessionEvent | SessionHeaderEvent | ExtensionErrorEvent;

/** The answer to a command sent to a child in RPC mode. */
export interface RpcResponse {
	readonly type: "response";
	readonly id?: string;
	readonly command?: string;
	readonly success: boolean;
	readonly data?: unknown;
	readonly error?: string;
}

/** An extension of the child wants something from its user. */
export interface ExtensionUiRequest {
	readonly type: "extension_ui_request";
	readonly id: string;
	readonly method: string;
	readonly title?: string;
}

/** What goes over the bus of a pi child: agent events, and the records of its command protocol. */
export type ChildEvent = AgentEvent | RpcResponse | ExtensionUiRequest;

/** Anything that agent events can be had from: the bus of a child, or a session in this process. */
export interface AgentEventSource {
	/**
	 * @param options.types what the listener looks at; a source may send it other types too
	 * @returns the unsubscribe function
	 */
	subscribe(
		listener: (event: ObservedEvent) => void,
		options: { readonly types: readonly AgentEvent["type"][] },
	): () => void;
}

/** An event before the observer has looked at its type. */
export interface ObservedEvent {
	readonly type: string;
}
