import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { lastCharacters, TextTail } from "../../src/process/text-tail.ts";

/** The longest end of the text that has at most so many bytes and starts at a character. */
function referenceTail(text: string, maxBytes: number): string {
	const characters = [...text];
	while (Buffer.byteLength(characters.join("")) > maxBytes) characters.shift();
	return characters.join("");
}

describe("TextTail", () => {
	it("B20: keeps the end, at most so many bytes, from a character on, whatever pieces it came in", () => {
		const pieces = fc.array(fc.stringMatching(/^[aé€😀]{0,12}$/u), { maxLength: 30 });
		fc.assert(
			fc.property(pieces, fc.integer({ min: 4, max: 20 }), fc.nat(3), (texts, maxBytes, shift) => {
				const whole = Buffer.from(texts.join(""));
				const tail = new TextTail(maxBytes);
				// Pieces are cut in the middle of characters too.
				for (let at = 0, i = 0; at < whole.length; i++) {
					const size = Buffer.byteLength(texts[i] ?? "") + shift + 1;
					tail.push(whole.subarray(at, at + size));
					at += size;
				}
				expect(tail.toString()).toBe(referenceTail(texts.join(""), maxBytes));
			}),
			{ numRuns: 2000 },
		);
	});

	it("does not report an unfinished last character", () => {
		const tail = new TextTail(100);
		tail.push(Buffer.from("a€").subarray(0, 3));
		expect(tail.toString()).toBe("a");
	});

	it("keeps invalid bytes as U+FFFD", () => {
		const tail = new TextTail(4);
		tail.push(Buffer.from([0x80, 0x80, 0xff, 0x61]));
		expect(tail.toString()).toBe("\uFFFD\uFFFD\uFFFDa");
	});
});

describe("lastCharacters", () => {
	it("B14: never starts inside a surrogate pair", () => {
		expect(lastCharacters("a😀b", 3)).toBe("😀b");
		expect(lastCharacters("a😀b", 2)).toBe("b");
		expect(lastCharacters("ab", 2)).toBe("ab");
		expect(lastCharacters("ab", 5)).toBe("ab");
	});
});
