/** What a pi child says, for programs that start one themselves: register the factory, then read facts and events. */
export {
	type AssistantFacts,
	PI_EVENTS_HANDLER,
	PI_LABEL,
	PiEventsHandler,
	type PiStreamFacts,
	piEventsHandlerFactory,
} from "./events-handler.ts";
