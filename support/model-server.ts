import type { IncomingMessage, ServerResponse } from "node:http";
import { type ChatCompletionRequest, type FixtureResponse, LLMock } from "@copilotkit/aimock";
import { createChangeSignal } from "./change-signal.ts";
import { MOCK_MODELS, type ModelPrices } from "./mock-models.ts";
import { deliveryOf, toFixtureResponse, usageOf, writeErrorAnswer, writePausedStream } from "./model-answer.ts";
import { type ModelRequest, readModelRequest } from "./model-request.ts";
import {
	type Answer,
	type AnswerUsage,
	createScriptReader,
	type ErrorAnswer,
	type MessageAnswer,
	type ModelScript,
} from "./model-script.ts";

export interface ModelServer {
	/** The base URL for an OpenAI-compatible client; it adds `/chat/completions`. */
	readonly url: string;
	readonly port: number;
	/** Every chat request so far in order of arrival; the entries are live. */
	requests(): readonly ServedRequest[];
	/** Sums of the usage in all answers which were sent to their end. */
	served(): ServedTotals;
	/** One sentence per request for which the script had no answer, and per request to another path. */
	unexpected(): readonly string[];
	/** The oldest answer on hold which no earlier call returned, now or as soon as there is one. */
	held(conversation?: string): Promise<HeldAnswer>;
	/** Releases every answer which is on hold now. */
	releaseAll(): void;
	/** Resolves as soon as the condition holds; it is asked whenever a request arrives, is held or ends. */
	until(condition: (requests: readonly ServedRequest[]) => boolean): Promise<void>;
	/** Cuts open connections and closes the server. Promises of `held` and `until` that are still open reject. */
	stop(): Promise<void>;
}

export interface ServedRequest extends ModelRequest {
	/** Position among all requests of the server, from 0. */
	readonly index: number;
	/** Milliseconds since the epoch. */
	readonly receivedAt: number;
	/** Undefined when no conversation matched. */
	readonly conversation: string | undefined;
	/** Position in its conversation, from 0. */
	readonly turn: number | undefined;
	/** Undefined when the request was unexpected. */
	readonly answer: Answer | undefined;
	/** Set once the answer went out with its usage; error answers have none. */
	readonly usage: Required<AnswerUsage> | undefined;
	/** `disconnected`: the script cut the connection. `abandoned`: the client went away, or the server was stopped. */
	readonly outcome: "open" | "held" | "answered" | "disconnected" | "abandoned";
}

export interface ServedTotals {
	/** Tokens, without the cached ones. */
	readonly input: number;
	readonly output: number;
	readonly cacheRead: number;
	/** USD by the prices of {@link MOCK_MODELS}; undefined when a model without a price was asked. */
	readonly cost: number | undefined;
}

export interface HeldAnswer {
	readonly request: ServedRequest;
	release(): void;
}

/** aimock takes this path for OpenRouter's and only there keeps `prompt_tokens_details` in the usage. */
const BASE_PATH = "/api/v1";
/** A request header by which aimock hands a label through to predicates and response functions. */
const CONTEXT_HEADER = "x-aimock-context";
/** For aimock, when the response has been ended already: it then leaves it alone. */
const ANSWERED: FixtureResponse = { content: "" };

/** Starts a scripted OpenAI-compatible model server on a free port of 127.0.0.1. */
export async function startModelServer(script: ModelScript): Promise<ModelServer> {
	const mock = new LLMock({ host: "127.0.0.1", port: 0, logLevel: "silent", journalMaxEntries: 1 });
	const readScript = createScriptReader(script);
	const exchanges = new Map<string, Exchange>();
	const requests: ServedRecord[] = [];
	const unexpected: string[] = [];
	const holds: Hold[] = [];
	const changes = createChangeSignal();
	const deliveries = new Set<string>();
	let arrived = 0;
	let stopped: Promise<void> | undefined;

	mock.mount(BASE_PATH, { handleRequest: async (request, response, path) => accept(request, response, path) });
	// Asked before all others: decides the answer, and sees to it that there is a fixture which delivers in that way.
	mock.on({ predicate: (body) => decide(body) }, { content: "" });
	await mock.start();

	/** Sees every request before its body is read. False hands it on to aimock's own chat handler. */
	function accept(request: IncomingMessage, response: ServerResponse, path: string): boolean {
		if (path !== "/chat/completions" || request.method !== "POST") {
			const problem = `no such endpoint: ${request.method} ${request.url}`;
			unexpected.push(problem);
			writeErrorAnswer(response, unexpectedAnswer(problem));
			return true;
		}
		const label = String(arrived++);
		request.headers[CONTEXT_HEADER] = label;
		const exchange: Exchange = { request, response, gone: Promise.withResolvers<void>() };
		exchanges.set(label, exchange);
		response.once("finish", () => {
			close(exchange);
			exchanges.delete(label);
		});
		response.once("close", () => {
			close(exchange);
			exchange.gone.resolve();
			// Tells aimock's writer, which does not notice that a client has gone, to stop.
			if (!response.writableEnded) response.end();
		});
		return false;
	}

	function decide(body: ChatCompletionRequest): boolean {
		const exchange = exchanges.get(String(body._context));
		if (exchange === undefined || exchange.record !== undefined) return false;
		const { _context, _endpointType, ...sent } = body;
		const { [CONTEXT_HEADER]: _label, ...headers } = exchange.request.headers;
		const length = headers["content-length"];
		const modelRequest = readModelRequest(sent, headers, length === undefined ? undefined : Number(length));
		const decision = readScript(modelRequest);
		const answer = "answer" in decision ? decision.answer : undefined;
		if ("problem" in decision) unexpected.push(decision.problem);
		exchange.record = {
			...modelRequest,
			index: requests.length,
			receivedAt: Date.now(),
			conversation: decision.conversation,
			turn: decision.turn,
			answer,
			usage: undefined,
			outcome: "open",
		};
		exchange.reply = "problem" in decision ? unexpectedAnswer(decision.problem) : replyOf(decision.answer);
		exchange.delivery = provideDelivery(exchange.reply);
		requests.push(exchange.record);
		changes.notify();
		return false;
	}

	/** One fixture per way of delivery; its predicate picks the requests which were decided to be delivered so. */
	function provideDelivery(reply: Reply): string {
		const options = "status" in reply ? {} : deliveryOf(reply);
		const delivery = JSON.stringify(options);
		if (!deliveries.has(delivery)) {
			deliveries.add(delivery);
			mock.on(
				{ predicate: (body) => exchanges.get(String(body._context))?.delivery === delivery },
				(body) => respond(body),
				options,
			);
		}
		return delivery;
	}

	/** Gives the answer. What aimock cannot express is written to the response here. */
	async function respond(body: ChatCompletionRequest): Promise<FixtureResponse> {
		const exchange = exchanges.get(String(body._context));
		if (exchange?.reply === undefined) throw new Error("aimock asks for the answer to an undecided request");
		const { reply, response } = exchange;
		const released = () => hold(exchange, reply.hold);
		if ("status" in reply) {
			await released();
			if (!response.writableEnded) writeErrorAnswer(response, reply);
			return ANSWERED;
		}
		const { holdAfter, disconnectAfter } = reply;
		if (reply.hold !== undefined && holdAfter !== undefined) {
			await writePausedStream(response, body.model, reply, { afterCharacters: holdAfter, pause: released });
			return ANSWERED;
		}
		await released();
		if (disconnectAfter === undefined || response.writableEnded) return toFixtureResponse(reply);
		const cut = () => void response.destroy();
		await writePausedStream(response, body.model, reply, { afterCharacters: disconnectAfter, pause: cut });
		return ANSWERED;
	}

	/** Resolves when the answer may go on, or when the client has gone. */
	async function hold(exchange: Exchange, until: Reply["hold"]): Promise<void> {
		const { record, gone } = exchange;
		if (until === undefined || record === undefined || record.outcome !== "open") return;
		const { promise, resolve } = Promise.withResolvers<void>();
		const entry: Hold = { request: record, release: resolve, claimed: false };
		holds.push(entry);
		record.outcome = "held";
		changes.notify();
		try {
			await Promise.race([promise, gone.promise, ...(until === true ? [] : [until])]);
		} finally {
			holds.splice(holds.indexOf(entry), 1);
			if (record.outcome === "held") record.outcome = "open";
		}
	}

	function close({ record, reply, response }: Exchange): void {
		if (record === undefined || (record.outcome !== "open" && record.outcome !== "held")) return;
		const cut = reply !== undefined && "disconnectAfter" in reply && reply.disconnectAfter !== undefined;
		if (response.writableFinished) record.outcome = "answered";
		else record.outcome = cut && stopped === undefined ? "disconnected" : "abandoned";
		if (record.outcome === "answered" && reply !== undefined && !("status" in reply)) record.usage = usageOf(reply);
		changes.notify();
	}

	function claimHold(conversation: string | undefined): HeldAnswer | undefined {
		const entry = holds.find(
			({ claimed, request }) => !claimed && (conversation === undefined || request.conversation === conversation),
		);
		if (entry !== undefined) entry.claimed = true;
		return entry;
	}

	async function stop(): Promise<void> {
		changes.rejectAll(new Error("The model server was stopped"));
		const closed = mock.stop();
		for (const { response } of exchanges.values()) response.destroy();
		await closed;
	}

	return {
		url: `${mock.url}${BASE_PATH}`,
		port: mock.port,
		requests: () => requests,
		served: () => totalsOf(requests),
		unexpected: () => unexpected,
		held: (conversation) => changes.firstOf(() => claimHold(conversation)),
		releaseAll: () => {
			for (const entry of holds) entry.release();
		},
		until: async (condition) => {
			await changes.firstOf(() => condition(requests) || undefined);
		},
		stop: () => {
			stopped ??= stop();
			return stopped;
		},
	};
}

type Reply = MessageAnswer | ErrorAnswer;

type ServedRecord = { -readonly [Key in keyof ServedRequest]: ServedRequest[Key] };

interface Exchange {
	readonly request: IncomingMessage;
	readonly response: ServerResponse;
	readonly gone: PromiseWithResolvers<void>;
	record?: ServedRecord;
	reply?: Reply;
	delivery?: string;
}

interface Hold extends HeldAnswer {
	claimed: boolean;
}

function replyOf(answer: Answer): Reply {
	return "hang" in answer ? { text: "", hold: true } : answer;
}

/** 400, because pi would try again after a 5xx. */
function unexpectedAnswer(problem: string): ErrorAnswer {
	const message = `Unexpected model request: ${problem}`;
	return { status: 400, body: { error: { message, type: "unexpected_request", param: null, code: null } } };
}

function totalsOf(requests: readonly ServedRequest[]): ServedTotals {
	let totals: ServedTotals = { input: 0, output: 0, cacheRead: 0, cost: 0 };
	for (const { usage, body } of requests) {
		if (usage === undefined) continue;
		const prices = MOCK_MODELS.find(({ id }) => id === body.model)?.cost;
		totals = {
			input: totals.input + usage.input,
			output: totals.output + usage.output,
			cacheRead: totals.cacheRead + usage.cacheRead,
			cost: prices === undefined || totals.cost === undefined ? undefined : totals.cost + costOf(usage, prices),
		};
	}
	return totals;
}

/** USD, by the same arithmetic as pi's. */
function costOf({ input, output, cacheRead }: Required<AnswerUsage>, prices: ModelPrices): number {
	return (
		(prices.input / 1_000_000) * input +
		(prices.output / 1_000_000) * output +
		(prices.cacheRead / 1_000_000) * cacheRead
	);
}
