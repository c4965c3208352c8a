// Writes one byte, then as many 3-byte characters to stderr as fit into the given number of bytes, then dies by SIGKILL.
import { writeSync } from "node:fs";

const text = `x${"€".repeat(Math.floor((Number(process.argv[2]) - 1) / 3))}`;
for (let rest = Buffer.from(text); rest.length > 0; ) rest = rest.subarray(writeSync(2, rest));
process.kill(process.pid, "SIGKILL");
