// Exits with code 0 once the given file exists; ignores TERM.
import { existsSync } from "node:fs";

process.on("SIGTERM", () => undefined);
console.log("ready");
setInterval(() => {
	if (existsSync(process.argv[2])) process.exit(0);
}, 10);
