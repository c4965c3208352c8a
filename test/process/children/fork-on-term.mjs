// Exits on TERM. A grandchild in a group of its own starts another process when it gets TERM, and then exits or stays.
import { spawn } from "node:child_process";

process.once("SIGTERM", () => process.exit(143));

const then = process.argv[2] === "exit" ? "exit 0" : "wait";
const script = `trap 'sh -c "trap : TERM; echo forked \\$\\$; while :; do sleep 1000 >/dev/null 2>&1; done" & ${then}' TERM
echo member $$
while :; do sleep 1000 & wait; done`;
spawn("/bin/bash", ["-c", script], { detached: true, stdio: ["ignore", "inherit", "ignore"] });
