// Reads a recorded pi stream as a run would: pipe, bus, pi handler, record and UI observer. Prints what it cost and found.
import { spawn } from "node:child_process";
import { AgentRecord, createActivity, subscribeRecordObserver, subscribeUIObserver } from "../../dist/observers.js";
import { PI_EVENTS_HANDLER, PI_LABEL, piEventsHandlerFactory } from "../../dist/pi.js";
import { ManagedProcessFactory, OutputHandlerRegistry } from "../../dist/process.js";
import { startMeter } from "./meter.mjs";

const [file] = process.argv.slice(2);
const registry = new OutputHandlerRegistry();
registry.registerFactory(piEventsHandlerFactory);
const factory = new ManagedProcessFactory(registry);
const meter = startMeter();
const child = spawn("cat", [file], { stdio: ["ignore", "pipe", "inherit"] });
const managed = factory.create(child, { label: PI_LABEL });
const record = new AgentRecord("bench");
const activity = createActivity();
subscribeRecordObserver(managed.bus, record);
let updates = 0;
subscribeUIObserver(managed.bus, activity, () => updates++);
await managed.settled;
const facts = managed.bus.getHandler(PI_EVENTS_HANDLER).getFacts();
const metrics = managed.bus.getMetrics();
const handlerErrors = Object.values(metrics.handlerErrors).reduce((a, b) => a + b, 0);
meter.print({
	lines: metrics.linesBySource.stdout,
	bytes: metrics.bytes,
	errors: metrics.subscriberErrors + metrics.listenerErrors + handlerErrors + facts.noiseLines,
	toolUses: record.toolUses,
	turns: record.turns,
	usage: record.lifetimeUsage,
	answer: facts.lastAssistant?.text,
	updates,
});
