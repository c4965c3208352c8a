// Feeds one line of the first number of bytes to a bus with the second as its limit; prints what came out and how far memory grew.
import { OutputSources, ProcessOutputBus } from "../../../src/process/index.ts";

const size = Number(process.argv[2]);
const bus = new ProcessOutputBus({ maxLineBytes: Number(process.argv[3]) });
let event;
bus.subscribe((overlong) => {
	event = overlong;
});
const before = process.memoryUsage.rss();
let peak = before;
for (let fed = 0; fed < size; fed += 65_536) {
	bus.feed(Buffer.alloc(65_536, "x"), OutputSources.stdout);
	if (fed % (64 * 65_536) === 0) peak = Math.max(peak, process.memoryUsage.rss());
}
bus.feed(Buffer.from("\n"), OutputSources.stdout);
console.log(
	JSON.stringify({ bytes: event.bytes, head: event.head.length, peakMegabytes: (peak - before) / 1024 / 1024 }),
);
