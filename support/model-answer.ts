import type { ServerResponse } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { buildTextChunks, type FixtureOpts, type FixtureResponse } from "@copilotkit/aimock";
import {
	type AnswerUsage,
	DEFAULT_CHUNK_CHARACTERS,
	DEFAULT_USAGE,
	type ErrorAnswer,
	type MessageAnswer,
	type ScriptedToolCall,
} from "./model-script.ts";

/** A message answer in aimock's terms. */
export function toFixtureResponse(answer: MessageAnswer): FixtureResponse {
	const overrides = {
		usage: toWireUsage(answer.usage),
		...(answer.finishReason !== undefined && { finishReason: answer.finishReason }),
	};
	const { text, toolCalls } = answer;
	if (toolCalls === undefined) return { content: text ?? "", ...overrides };
	const calls = toolCalls.map(toFixtureToolCall);
	return text === undefined ? { toolCalls: calls, ...overrides } : { content: text, toolCalls: calls, ...overrides };
}

function toFixtureToolCall({ name, args, id }: ScriptedToolCall) {
	return { name, arguments: typeof args === "string" ? args : JSON.stringify(args), ...(id !== undefined && { id }) };
}

/** How aimock is to deliver a message answer. aimock takes this per fixture, not per response. */
export function deliveryOf({ chunkCharacters = DEFAULT_CHUNK_CHARACTERS, chunkDelayMs }: MessageAnswer): FixtureOpts {
	return { chunkSize: chunkCharacters, ...(chunkDelayMs !== undefined && { latency: chunkDelayMs }) };
}

export function usageOf(answer: MessageAnswer): Required<AnswerUsage> {
	return { ...DEFAULT_USAGE, ...answer.usage };
}

/** OpenAI counts the cached tokens into `prompt_tokens`, pi takes them out again. */
function toWireUsage(usage: AnswerUsage = DEFAULT_USAGE) {
	const { input, output, cacheRead = 0 } = usage;
	return {
		prompt_tokens: input + cacheRead,
		completion_tokens: output,
		total_tokens: input + cacheRead + output,
		...(cacheRead > 0 && { prompt_tokens_details: { cached_tokens: cacheRead } }),
	};
}

/**
 * Answers with an HTTP error. Not through aimock: its error fixture has two fixed bodies, the one for our route drops
 * `type` and `code` (pi recognises a used up quota by them), and every 429 of it carries `Retry-After: 1`.
 */
export function writeErrorAnswer(response: ServerResponse, { status, body, headers }: ErrorAnswer): void {
	const defaultBody = {
		error: { message: `Scripted error ${status}`, type: "scripted_error", param: null, code: null },
	};
	response.writeHead(status, { "content-type": "application/json", ...headers });
	response.end(JSON.stringify(body === undefined ? defaultBody : body));
}

/**
 * Streams the beginning of a text, awaits `pause`, and streams the rest if the connection is still there. Not through
 * aimock: it delays chunks by time only, not until something happens, and where it cuts a stream it does so in the
 * same tick as its last write, so that the client gets nothing of what was written.
 */
export async function writePausedStream(
	response: ServerResponse,
	model: string,
	answer: MessageAnswer,
	{ afterCharacters, pause }: { afterCharacters: number; pause: () => Promise<void> | void },
): Promise<void> {
	const { text = "", chunkCharacters = DEFAULT_CHUNK_CHARACTERS, chunkDelayMs = 0, finishReason } = answer;
	const overrides = finishReason === undefined ? {} : { finishReason };
	const chunks: object[] = buildTextChunks(text, model, chunkCharacters, undefined, overrides);
	const usageChunk = { ...chunks.at(-1), choices: [], usage: toWireUsage(answer.usage) };
	// aimock's first chunk names the role, the last one the finish reason.
	const early = Math.min(1 + Math.ceil(afterCharacters / chunkCharacters), chunks.length - 1);
	response.writeHead(200, { "content-type": "text/event-stream" });
	for (const [index, chunk] of [...chunks, usageChunk].entries()) {
		if (index === early) await pause();
		if (chunkDelayMs > 0) await sleep(chunkDelayMs);
		if (response.destroyed || response.writableEnded) break;
		await flush(response, `data: ${JSON.stringify(chunk)}\n\n`);
	}
	// Also after a break, as aimock must find the response ended.
	if (!response.writableEnded) response.end("data: [DONE]\n\n");
}

/** Resolves when the operating system has the data, or when the connection has gone. */
function flush(response: ServerResponse, data: string): Promise<unknown> {
	return new Promise((resolve) => response.write(data, resolve));
}
