/**
 * Everything that has no glyph, in runs: line ends, escape codes, direction overrides, tag characters. The two joiners
 * stay, since emoji and several scripts are spelled with them.
 */
const INVISIBLE = /(?:(?![\u200c\u200d])[\p{C}\p{Z}])+/gu;

/** A text of unknown origin on one line: what can't be seen becomes a single space. */
export function oneLine(text: string): string {
	return text.replace(INVISIBLE, " ").trim();
}

/** The text if it has at most so many bytes of UTF-8, else its beginning up to a whole grapheme, and `…`. */
export function cutToBytes(text: string, maxBytes: number): string {
	if (Buffer.byteLength(text) <= maxBytes) return text;
	const room = maxBytes - Buffer.byteLength("…");
	let kept = "";
	let bytes = 0;
	// Nothing beyond this many units can fit, and a grapheme that the slice tears apart ends beyond the room.
	for (const { segment } of graphemes.segment(text.slice(0, Math.max(0, room + 1)))) {
		bytes += Buffer.byteLength(segment);
		if (bytes > room) break;
		kept += segment;
	}
	return kept === "" ? "" : `${kept.trimEnd()}…`;
}

const graphemes = new Intl.Segmenter("en", { granularity: "grapheme" });
