import { writeAtomically } from "../../src/records/atomic-write.ts";

// Replaces a file again and again, until it is killed in the middle of it. Usage: node rewrite-file.ts <path>
const path = process.argv[2] ?? "";
const filler = "x".repeat(300_000);
for (let n = 0; ; n++) {
	await writeAtomically(path, JSON.stringify({ n, filler, end: n }));
	if (n === 0) process.stdout.write("written\n");
}
