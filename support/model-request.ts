import type { ChatCompletionRequest, ChatMessage } from "@copilotkit/aimock";

/** One chat-completions request as a script sees it. */
export interface ModelRequest {
	/** The parsed body: `model`, `messages`, `tools` and whatever else the client sent. */
	readonly body: ChatCompletionRequest;
	/** Length of the raw body on the wire, in bytes. */
	readonly bytes: number;
	/** Names in lower case; `x-request-id` is aimock's own unless the client sent one. */
	readonly headers: Readonly<Record<string, string | string[] | undefined>>;
	/** All user messages, oldest first, joined by newlines. */
	readonly userText: string;
	/** All system and developer messages, oldest first, joined by newlines. */
	readonly systemText: string;
	/** Names of the tools declared to the model. */
	readonly toolNames: readonly string[];
}

export function readModelRequest(
	body: ChatCompletionRequest,
	headers: ModelRequest["headers"],
	contentLength: number | undefined,
): ModelRequest {
	return {
		body,
		headers,
		bytes: contentLength ?? Buffer.byteLength(JSON.stringify(body)),
		userText: textOf(body.messages, ["user"]),
		systemText: textOf(body.messages, ["system", "developer"]),
		toolNames: (body.tools ?? []).map((tool) => tool.function.name),
	};
}

function textOf(messages: readonly ChatMessage[], roles: readonly string[]): string {
	return messages
		.filter((message) => roles.includes(message.role))
		.map((message) => messageText(message))
		.join("\n");
}

/** The text parts of a message; other parts (images) are left out. */
export function messageText({ content }: ChatMessage): string {
	if (content === null || content === undefined) return "";
	if (typeof content === "string") return content;
	return content.map((part) => part.text ?? "").join("");
}
