import type { OutputHandler, OutputSource, ProcessOutputBus, TypedEvent } from "../../src/process/index.ts";
import { OutputSources } from "../../src/process/index.ts";

/** A handler that keeps what it sees, on stdout unless told otherwise. */
export function recordingHandler(
	more: Partial<OutputHandler> = {},
): OutputHandler & { readonly windows: string[][]; readonly seen: OutputSource[] } {
	const windows: string[][] = [];
	const seen: OutputSource[] = [];
	return {
		name: "recording",
		sources: [OutputSources.stdout],
		windowSize: 1,
		windows,
		seen,
		onLine(window, source) {
			windows.push(window);
			seen.push(source);
		},
		...more,
	};
}

/** Everything a bus tells its line listeners from now on. */
export function recordLines<E extends TypedEvent>(bus: ProcessOutputBus<E>): string[] {
	const lines: string[] = [];
	bus.subscribeLines((line) => lines.push(line));
	return lines;
}

/** Feeds text or bytes to stdout. */
export function feed<E extends TypedEvent>(bus: ProcessOutputBus<E>, data: string | Buffer): void {
	bus.feed(typeof data === "string" ? Buffer.from(data) : data, OutputSources.stdout);
}

/** The same bytes in pieces; the cuts may be in any order, repeated, or out of range. */
export function cutAt(bytes: Buffer, cuts: readonly number[]): Buffer[] {
	const sorted = [...new Set(cuts.map((cut) => cut % (bytes.length + 1)))].sort((a, b) => a - b);
	return [0, ...sorted].map((start, i) => bytes.subarray(start, sorted[i] ?? bytes.length));
}

/** The lines of a whole, the slow and obvious way: as bytes, LF only, one CR before it dropped, no line after a last LF. */
export function referenceLines(bytes: Buffer): Buffer[] {
	const lines: Buffer[] = [];
	let line: number[] = [];
	for (const byte of bytes) {
		if (byte !== 0x0a) {
			line.push(byte);
			continue;
		}
		if (line.at(-1) === 0x0d) line.pop();
		lines.push(Buffer.from(line));
		line = [];
	}
	if (line.length > 0) lines.push(Buffer.from(line));
	return lines;
}
