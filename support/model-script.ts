import type { ModelRequest } from "./model-request.ts";

/** Tokens of one answer in pi's terms: `input` does not contain the cached tokens. */
export interface AnswerUsage {
	readonly input: number;
	readonly output: number;
	readonly cacheRead?: number;
}

interface AnyAnswer {
	/** How many requests in a row get this answer; 1 by default. Each retry of a client is a request. */
	readonly times?: number;
	/**
	 * Keeps the answer back: `true` until it is released through `held()` or `releaseAll()`, a promise until it
	 * resolves. Nothing is sent before, not even headers, unless `holdAfter` says otherwise.
	 */
	readonly hold?: true | Promise<unknown>;
}

/**
 * An assistant message, streamed. A text of `""` without tool calls is an empty answer. `disconnectAfter` and `holdAfter`
 * are for texts without tool calls, and only one of them.
 */
export interface MessageAnswer extends AnyAnswer {
	readonly text?: string;
	readonly toolCalls?: readonly ScriptedToolCall[];
	/** {@link DEFAULT_USAGE} when left out. */
	readonly usage?: AnswerUsage;
	/** `stop` or `tool_calls` by default; `length`, `content_filter`, … */
	readonly finishReason?: string;
	/** Characters (UTF-16 units) per streamed piece; {@link DEFAULT_CHUNK_CHARACTERS} by default. Pairs may be split. */
	readonly chunkCharacters?: number;
	/** Wait before every streamed piece, in ms; 0 by default. */
	readonly chunkDelayMs?: number;
	/** Cuts the connection after so many characters of `text`, rounded up to a piece: no finish reason, no usage. */
	readonly disconnectAfter?: number;
	/** With `hold`: streams so many characters of `text`, rounded up to a piece, before it holds. */
	readonly holdAfter?: number;
}

export interface ScriptedToolCall {
	readonly name: string;
	/** A string is sent as it is, so that malformed JSON can be sent too. */
	readonly args: Readonly<Record<string, unknown>> | string;
	/** A generated id when left out. */
	readonly id?: string;
}

/** An HTTP error. pi retries 429 and 5xx unless the body speaks of quota or billing. */
export interface ErrorAnswer extends AnyAnswer {
	readonly status: number;
	/** Sent as JSON; by default an error object in OpenAI's form that names the status. */
	readonly body?: unknown;
	readonly headers?: Readonly<Record<string, string>>;
}

/** Short for an empty message which is held before its first byte. */
export interface HangAnswer {
	readonly hang: true;
	readonly times?: number;
}

export type Answer = MessageAnswer | ErrorAnswer | HangAnswer;

/** Decides an answer from the request and its position in the conversation, from 0; undefined means none is left. */
export type AnswerFunction = (request: ModelRequest, turn: number) => Answer | undefined;

export interface Conversation {
	/** Name in records and error messages; by default the text of `when`, or `#` and the position. */
	readonly name?: string;
	/** A text contained in a user message, or a test of the whole request. The first conversation that matches answers. */
	readonly when: string | ((request: ModelRequest) => boolean);
	/** The nth request of this conversation gets the nth answer. */
	readonly answers: readonly Answer[] | AnswerFunction;
}

/** Conversations, or for a single one just its answers. */
export type ModelScript = { readonly conversations: readonly Conversation[] } | Conversation["answers"];

export const DEFAULT_USAGE: Required<AnswerUsage> = { input: 100, output: 10, cacheRead: 0 };
export const DEFAULT_CHUNK_CHARACTERS = 64;

/** What a script says about one request. A problem is an unexpected request, in words for a person. */
export type Decision =
	| { readonly conversation: string; readonly turn: number; readonly answer: Answer }
	| { readonly conversation: string | undefined; readonly turn: number | undefined; readonly problem: string };

/** Reads a script request by request; holds how far each conversation has come. */
export function createScriptReader(script: ModelScript): (request: ModelRequest) => Decision {
	const conversations = conversationsOf(script);
	const turns = conversations.map(() => 0);
	return (request) => {
		try {
			return decide(conversations, turns, request);
		} catch (error) {
			return { conversation: undefined, turn: undefined, problem: `the script threw: ${String(error)}` };
		}
	};
}

function conversationsOf(script: ModelScript): readonly (Conversation & { readonly name: string })[] {
	const conversations =
		"conversations" in script ? script.conversations : [{ name: "script", when: () => true, answers: script }];
	return conversations.map((conversation, index) => ({
		...conversation,
		name: conversation.name ?? (typeof conversation.when === "string" ? conversation.when : `#${index}`),
	}));
}

function decide(conversations: ReturnType<typeof conversationsOf>, turns: number[], request: ModelRequest): Decision {
	const index = conversations.findIndex(({ when }) =>
		typeof when === "string" ? request.userText.includes(when) : when(request),
	);
	const conversation = conversations[index];
	if (conversation === undefined) {
		const known = conversations.map(({ name }) => JSON.stringify(name)).join(", ") || "none";
		const problem = `no conversation matches ${excerptOf(request)}; known: ${known}`;
		return { conversation: undefined, turn: undefined, problem };
	}
	const { name, answers } = conversation;
	const turn = turns[index] ?? 0;
	turns[index] = turn + 1;
	const answer = typeof answers === "function" ? answers(request, turn) : answerAt(answers, turn);
	if (answer !== undefined && !isUnservable(answer)) return { conversation: name, turn, answer };
	if (answer !== undefined) {
		const problem = `answer ${turn + 1} of conversation ${JSON.stringify(name)} cuts or holds tool calls in the middle`;
		return { conversation: name, turn, problem };
	}
	const problem = `no answer left in conversation ${JSON.stringify(name)} for its request ${turn + 1}: ${excerptOf(request)}`;
	return { conversation: name, turn, problem };
}

function answerAt(answers: readonly Answer[], turn: number): Answer | undefined {
	let first = 0;
	for (const answer of answers) {
		first += answer.times ?? 1;
		if (turn < first) return answer;
	}
	return undefined;
}

/** A stream is cut or held in its text only. */
function isUnservable(answer: Answer): boolean {
	if ("status" in answer || "hang" in answer || answer.toolCalls === undefined) return false;
	return answer.disconnectAfter !== undefined || answer.holdAfter !== undefined;
}

function excerptOf({ body, userText }: ModelRequest): string {
	return `a request for ${body.model} with ${body.messages.length} messages and user text ${JSON.stringify(userText.slice(0, 200))}`;
}
