// Writes the given number of bytes, numbered lines of 100, and exits at once.
import { writeSync } from "node:fs";

const lines = Number(process.argv[2]) / 100;
const text = Array.from({ length: lines }, (_, i) => `${String(i).padStart(99, "0")}\n`).join("");
for (let rest = Buffer.from(text); rest.length > 0; ) rest = rest.subarray(writeSync(1, rest));
process.exit(0);
