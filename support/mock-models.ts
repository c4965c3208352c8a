/** Prices in USD per million tokens, as in pi's `models.json`. */
export interface ModelPrices {
	readonly input: number;
	readonly output: number;
	readonly cacheRead: number;
	readonly cacheWrite: number;
}

/** A model entry of pi's `models.json`; window and limit in tokens. */
export interface MockModel {
	readonly id: string;
	readonly cost: ModelPrices;
	readonly contextWindow: number;
	readonly maxTokens: number;
	readonly reasoning: boolean;
}

/** The provider id under which the scripted models are known to pi: `mock/m1`, `mock/m2`. */
export const MOCK_PROVIDER = "mock";

/** Two models at different prices, so that a test sees which one was used by what the run cost. */
export const MOCK_MODELS: readonly MockModel[] = [
	{
		id: "m1",
		cost: { input: 1, output: 2, cacheRead: 0.1, cacheWrite: 1.25 },
		contextWindow: 200_000,
		maxTokens: 16_384,
		reasoning: false,
	},
	{
		id: "m2",
		cost: { input: 3, output: 15, cacheRead: 0.3, cacheWrite: 3.75 },
		contextWindow: 200_000,
		maxTokens: 16_384,
		reasoning: false,
	},
];
