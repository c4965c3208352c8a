/** `0`, `999`, `12.3k`, `4.5M`: a count for people. */
export function formatCount(count: number): string {
	if (count < 1000) return String(Math.round(count));
	if (count < 999_950) return `${(count / 1000).toFixed(1)}k`;
	return `${(count / 1_000_000).toFixed(1)}M`;
}

/** US dollars: `$0.0123`, `$1.23`; four digits below a dollar, since most runs cost cents. */
export function formatCost(dollars: number): string {
	return `$${dollars.toFixed(dollars < 1 ? 4 : 2)}`;
}

/** Milliseconds for people: `340ms`, `4.1s`, `3m 05s`, `2h 07m`. */
export function formatDuration(ms: number): string {
	if (ms < 1000) return `${Math.round(ms)}ms`;
	if (ms < 59_950) return `${(ms / 1000).toFixed(1)}s`;
	const seconds = Math.round(ms / 1000);
	const two = (count: number) => String(count).padStart(2, "0");
	if (seconds < 3600) return `${Math.floor(seconds / 60)}m ${two(seconds % 60)}s`;
	const minutes = Math.floor(seconds / 60);
	return `${Math.floor(minutes / 60)}h ${two(minutes % 60)}m`;
}

/** `1 turn`, `3 turns`. */
export function formatNumber(count: number, noun: string): string {
	return `${count} ${noun}${count === 1 ? "" : "s"}`;
}
