/** Names separated by commas, in at most so many bytes of UTF-8. */
export interface NameList {
	/** `a, b, +3 more`; empty if not even the count fits. */
	readonly text: string;
	/** How many names, from the first one, are in it. */
	readonly shown: number;
}

/** Lists as many names as fit, from the first one on, and counts the others. */
export function listNames(names: readonly string[], maxBytes: number): NameList {
	for (let shown = fitting(names, maxBytes); shown >= 0; shown--) {
		const text = withCount(names.slice(0, shown), names.length - shown);
		if (Buffer.byteLength(text) <= maxBytes) return { text, shown };
	}
	return { text: "", shown: 0 };
}

/** Joins entries of a list and says how many more there are. */
export function withCount(entries: readonly string[], more: number): string {
	return (more > 0 ? [...entries, `+${more} more`] : entries).join(", ");
}

/** How many names fit when nothing is said of the others: the most to try. */
function fitting(names: readonly string[], maxBytes: number): number {
	let bytes = -2;
	const tooMany = names.findIndex((name) => {
		bytes += Buffer.byteLength(name) + 2;
		return bytes > maxBytes;
	});
	return tooMany < 0 ? names.length : tooMany;
}
