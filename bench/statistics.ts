/** The middle of some numbers; of an even count, the mean of the two in the middle. */
export function median(values: readonly number[]): number {
	return quantile(values, 0.5);
}

/** Linear between neighbours. `q` from 0 to 1. */
export function quantile(values: readonly number[], q: number): number {
	const sorted = [...values].sort((a, b) => a - b);
	const at = (sorted.length - 1) * q;
	const low = sorted[Math.floor(at)] ?? Number.NaN;
	const high = sorted[Math.ceil(at)] ?? Number.NaN;
	return low + (high - low) * (at - Math.floor(at));
}

/** How far the middle half of the values lies apart: a measure of noise that single outliers do not move. */
export function spread(values: readonly number[]): number {
	return quantile(values, 0.75) - quantile(values, 0.25);
}

/** Rows of equal columns, first row as heading. */
export function formatTable(rows: readonly (readonly string[])[]): string {
	const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => (row[column] ?? "").length)));
	return rows
		.map((row) =>
			row
				.map((cell, column) => cell.padEnd(widths[column] ?? 0))
				.join("  ")
				.trimEnd(),
		)
		.join("\n");
}
