// Prints a recording as the child it was made from did, in pieces cut at random places, and ends as that child ended.
// Usage: node print-recording.mjs <folder> [seed]; without a seed each stream is written in one piece.
import { readFileSync, writeSync } from "node:fs";
import { join } from "node:path";

const MAX_PIECES = 40;
const PAUSE_MS = 2;

const [, , folder, seed] = process.argv;
const { exitCode, signal } = JSON.parse(readFileSync(join(folder, "meta.json"), "utf8"));
const random = generator(Number(seed));

print(2, readFileSync(join(folder, "stderr.txt")));
print(1, readFileSync(join(folder, "stdout.jsonl")));
if (signal) {
	process.kill(process.pid, signal);
	// A signal may take a moment to arrive.
	pause(5000);
}
process.exit(exitCode);

function print(fd, bytes) {
	const borders = seed === undefined ? [] : chooseBorders(bytes);
	let start = 0;
	for (const border of [...borders, bytes.length]) {
		write(fd, bytes.subarray(start, border));
		start = border;
		// Without a pause the reader gets several pieces as one.
		if (borders.length > 0) pause(PAUSE_MS);
	}
}

function write(fd, piece) {
	for (let written = 0; written < piece.length; ) written += writeSync(fd, piece, written);
}

/** Anywhere, and for a third of them in the middle of a character of several bytes, where there are any. */
function chooseBorders(bytes) {
	const inside = [];
	for (let i = 0; i < bytes.length && inside.length < 10_000; i++) if ((bytes[i] & 0xc0) === 0x80) inside.push(i);
	const borders = Array.from({ length: MAX_PIECES }, (_, i) =>
		i % 3 === 0 && inside.length > 0
			? inside[Math.floor(random() * inside.length)]
			: Math.floor(random() * bytes.length),
	);
	return [...new Set(borders)].sort((a, b) => a - b);
}

function pause(ms) {
	Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}

/** mulberry32: the same seed always gives the same numbers from 0 to 1. */
function generator(start) {
	let state = start;
	return () => {
		state = (state + 0x6d2b79f5) | 0;
		let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
		mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
		return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
	};
}
