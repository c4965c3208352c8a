/** Prints `/proc` as the `ps` of macOS would, for the columns that this package asks for. */
import { readdirSync, readFileSync } from "node:fs";

const args = process.argv.slice(2);
for (const pid of readdirSync("/proc").filter((name) => /^\d+$/.test(name))) {
	try {
		process.stdout.write(`${pid.padStart(5)} ${args.includes("command=") ? command(pid) : columns(pid)}\n`);
	} catch {
		// Ended meanwhile: `ps` would not list it either.
	}
}

function columns(pid: string): string {
	const stat = readFileSync(`/proc/${pid}/stat`, "latin1");
	const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
	// The start in ticks stands where the year belongs: as exact as a test needs it.
	return `${fields[1]} ${fields[2]} ${fields[0]}s   Mon Jan  5 10:00:00 ${fields[19]}`;
}

function command(pid: string): string {
	const commandLine = strings(`/proc/${pid}/cmdline`);
	if (!args.includes("-E")) return commandLine;
	try {
		return `${commandLine} ${strings(`/proc/${pid}/environ`)}`;
	} catch {
		// Of another user: `ps` prints the command alone.
		return commandLine;
	}
}

function strings(file: string): string {
	const parts = readFileSync(file, "latin1").replaceAll("\n", "\\012").split("\0");
	return parts.filter((part) => part !== "").join(" ");
}
