/**
 * Runs 2,000 short children of random kinds, 16 at a time, and prints what came of them. Exits with 1 when one of them did
 * not end as it should, or when anything is left. `node scripts/soak.ts [children] [seed]`
 */
import { runSoak } from "../test/process/soak-run.ts";

/** Longest time for the whole run, in minutes: on two cores it takes three. */
const LIMIT_MINUTES = 15;
/** The heap may grow by what the engine learns about the code, not by anything kept per child. */
const HEAP_GROWTH_MB = 8;

const children = Number(process.argv[2] ?? 2000);
const seed = Number(process.argv[3] ?? Math.floor(Math.random() * 2 ** 31));
setTimeout(() => {
	console.error(`soak: not done after ${LIMIT_MINUTES} minutes`);
	process.exit(1);
}, LIMIT_MINUTES * 60_000).unref();

console.log(`soak: ${children} children, seed ${seed}`);
const report = await runSoak({ children, width: 16, seed, deadlineMs: 60_000 });
for (const [kind, count] of Object.entries(report.byKind).sort()) console.log(`${String(count).padStart(6)} ${kind}`);
console.log(
	`${report.children} children settled in ${report.seconds.toFixed(1)} s with ${report.lines} lines; ` +
		`${report.namedLeftovers} leftovers named; heap growth ${report.heapGrowthMb.toFixed(1)} MB`,
);
const problems = [
	...report.faults,
	...report.descendants.map((pid) => `pid ${pid} is left and was not named`),
	...report.more.map((what) => `more than before: ${what}`),
	...(report.heapGrowthMb > HEAP_GROWTH_MB ? [`the heap grew by more than ${HEAP_GROWTH_MB} MB`] : []),
];
for (const problem of problems) console.error(`PROBLEM ${problem}`);
console.log(problems.length === 0 ? "every child as expected, nothing left" : `${problems.length} problems`);
process.exitCode = problems.length === 0 ? 0 : 1;
