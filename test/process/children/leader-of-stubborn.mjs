// Exits on TERM; what it started ignores TERM: one member of its own group, one leader of another.
import { spawn } from "node:child_process";

process.once("SIGTERM", () => process.exit(143));

for (const detached of [false, true]) {
	const stubborn = "trap '' TERM; echo member $$; exec sleep 1000 >/dev/null 2>&1";
	spawn("/bin/sh", ["-c", stubborn], { detached, stdio: ["ignore", "inherit", "ignore"] });
}
