/** Where a line of a child came from. `pattern` is the name of the log source that was given at creation. */
export type OutputSource =
	| { readonly type: "stdout" }
	| { readonly type: "stderr" }
	| { readonly type: "log-file"; readonly pattern: string };

/** The sources a handler can name. `logFile(name)` stands for the log source with that name. */
export const OutputSources = {
	stdout: { type: "stdout" },
	stderr: { type: "stderr" },
	logFile: (name: string): OutputSource => ({ type: "log-file", pattern: name }),
} as const satisfies Record<string, OutputSource | ((name: string) => OutputSource)>;

/** One string per source, usable as a key: `stdout`, `stderr`, `log-file:<name>`. */
export function sourceKey(source: OutputSource): string {
	return source.type === "log-file" ? `log-file:${source.pattern}` : source.type;
}
