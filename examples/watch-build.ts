// Watches a build with a handler of its own: node examples/watch-build.ts npm run build
import { ManagedProcessFactory, OutputHandlerRegistry, OutputSources, spawnChecked } from "../src/process/index.ts";

const [command = "npm", ...args] = process.argv.slice(2);
const registry = new OutputHandlerRegistry<{ type: "problem"; file: string; text: string }>();
registry.registerFactory({
	name: "compiler-problems",
	processFilter: ["build"],
	create: ({ emit }) => ({
		name: "compiler-problems",
		sources: [OutputSources.stdout, OutputSources.stderr],
		windowSize: 1,
		onLine: ([line = ""]) => {
			const [, file, text] = /^(.+?)[(:]\d+[,:]\d+\)?: error (.+)$/.exec(line) ?? [];
			if (file && text) emit({ type: "problem", file, text });
		},
	}),
});
const build = new ManagedProcessFactory(registry).create(
	spawnChecked({ command, args, cwd: process.cwd(), env: process.env }),
	{ label: "build" },
);
build.bus.subscribe(({ file, text }) => console.log(`${file}: ${text}`), { types: ["problem"] });
process.once("SIGINT", () => build.stop("interrupted"));
const { code, signal, leftovers } = await build.settled;
console.log(
	`build ended with ${signal ?? code} after ${Math.round(build.durations.total)} ms, left running: ${leftovers.length}`,
);
process.exitCode = code ?? 1;
