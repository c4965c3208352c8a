import { StringDecoder } from "node:string_decoder";

export interface TextBounds {
	/** UTF-8 bytes. */
	readonly maxBytes: number;
	readonly maxLines: number;
}

export interface BoundedText {
	readonly text: string;
	/** How much was left out; 0 when the text is whole. */
	readonly omittedBytes: number;
}

/** The start of a text within bounds, cut at a line where it has lines, else at a character. Lone surrogates become U+FFFD. */
export function boundText(text: string, { maxBytes, maxLines }: TextBounds): BoundedText {
	const whole = text.toWellFormed();
	const bytes = Buffer.from(whole);
	let end = Math.min(bytes.length, maxBytes);
	let at = -1;
	for (let line = 0; line < maxLines; line++) {
		at = bytes.indexOf(0x0a, at + 1);
		if (at === -1) break;
	}
	if (at !== -1) end = Math.min(end, at);
	if (end === bytes.length) return { text: whole, omittedBytes: 0 };
	const lastLine = bytes.lastIndexOf(0x0a, end);
	// A line end not too far back is a nicer place than the middle of a line.
	if (lastLine > end * 0.8) end = lastLine;
	// The decoder holds back a character that the cut went through.
	const kept = new StringDecoder("utf8").write(bytes.subarray(0, end));
	return { text: kept, omittedBytes: bytes.length - Buffer.byteLength(kept) };
}
