// Starts two children in its own group, ends one of them by stop or kill, and prints who lives. Cleans up.
import { spawn } from "node:child_process";
import { createProcessTable, ManagedProcessFactory, OutputHandlerRegistry } from "../../../src/process/index.ts";

const factory = new ManagedProcessFactory(new OutputHandlerRegistry());
const stdio = ["ignore", "pipe", "pipe"];
const sibling = spawn("sleep", ["1000"], { stdio });
const child = spawn(
	"/bin/sh",
	["-c", "sleep 1000 >/dev/null 2>&1 & echo $!; trap 'trap - TERM; kill -TERM $$' TERM; wait"],
	{ stdio },
);
const managed = factory.create(child, { label: "test" });
const descendant = await new Promise((resolve) => managed.on("line", (line) => resolve(Number(line))));
if (process.argv[2] === "stop") void managed.stop("user");
else managed.kill();
const outcome = await managed.settled;
const alive = async (pid) => (await createProcessTable().find(pid))?.zombie === false;
console.log(
	JSON.stringify({ siblingAlive: await alive(sibling.pid), descendantAlive: await alive(descendant), outcome }),
);
sibling.kill("SIGKILL");
if (await alive(descendant)) process.kill(descendant, "SIGKILL");
