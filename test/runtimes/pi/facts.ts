import type { ProcessOutcome } from "../../../src/process/index.ts";
import type { AssistantFacts, PiStreamFacts } from "../../../src/runtimes/pi/events-handler.ts";
import type { PiAttemptFacts } from "../../../src/runtimes/pi/pi-outcome.ts";

export function assistant(overrides: Partial<AssistantFacts> = {}): AssistantFacts {
	return {
		stopReason: "stop",
		rawStopReason: undefined,
		errorMessage: undefined,
		provider: "mock",
		model: "m1",
		text: "The answer.",
		...overrides,
	};
}

/** The stream of a run that answered; what is given replaces that. */
export function stream(overrides: Partial<PiStreamFacts> = {}): PiStreamFacts {
	return {
		sessionId: undefined,
		started: true,
		settled: { aborted: false },
		lastAssistant: assistant(),
		lastText: "The answer.",
		noiseLines: 0,
		noiseSample: "",
		malformedRecords: 0,
		extensionErrors: [],
		...overrides,
	};
}

/** A child that exited by itself. */
export function ended(overrides: Partial<ProcessOutcome> = {}): ProcessOutcome {
	return {
		code: 0,
		signal: null,
		forcedExit: false,
		streams: "closed",
		stderrTail: "",
		leftovers: [],
		...overrides,
	};
}

/** A run that went well; what is given replaces that. */
export function facts(overrides: Partial<PiAttemptFacts> = {}): PiAttemptFacts {
	return {
		stream: stream(),
		process: ended(),
		stop: undefined,
		promptError: undefined,
		promptHandled: false,
		deniedDialogs: [],
		overlongLines: 0,
		outputLost: false,
		...overrides,
	};
}
