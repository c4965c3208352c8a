// Starts a process that leads a group of its own, as the shells of agent CLIs do, says its pid and stays.
import { spawn } from "node:child_process";

const member = spawn("sleep", ["1000"], { detached: true, stdio: "ignore" });
member.once("spawn", () => console.log(`member ${member.pid}`));
