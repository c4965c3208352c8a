import { distance } from "fastest-levenshtein";

/** No name is longer than this; a longer text is no slip of the pen. */
const MAX_LENGTH = 64;

/**
 * The candidate that was probably meant, or undefined: within two edits, or one that the text contains (`code-reviewer`
 * for `reviewer`) or starts. Of equals the first one.
 */
export function nearestName(name: string, candidates: readonly string[]): string | undefined {
	const wanted = name.toLowerCase();
	if (wanted === "" || wanted.length > MAX_LENGTH) return undefined;
	let nearest: string | undefined;
	let least = Number.POSITIVE_INFINITY;
	for (const candidate of candidates) {
		const known = candidate.toLowerCase();
		const edits = distance(wanted, known);
		const related = edits <= MAX_EDITS ? edits : overlap(wanted, known) ? MAX_EDITS + 1 : Number.POSITIVE_INFINITY;
		if (related < least) [nearest, least] = [candidate, related];
	}
	return nearest;
}

/** Whether the text is within two edits of the other one. */
export function looksLike(text: string, other: string): boolean {
	return text.length <= MAX_LENGTH && distance(text.toLowerCase(), other.toLowerCase()) <= MAX_EDITS;
}

const MAX_EDITS = 2;

/** Three letters are in common too often to mean anything. */
function overlap(wanted: string, known: string): boolean {
	return (known.length > 3 && wanted.includes(known)) || (wanted.length > 3 && known.startsWith(wanted));
}
