/** What became of a signal: it went out, nobody was there, or the system refused it. */
export type SignalResult = "sent" | "gone" | "denied";

/** Sends a signal to one process. Signal 0 only asks whether it is there. */
export function signalProcess(pid: number, signal: NodeJS.Signals | 0): SignalResult {
	return send(pid, signal);
}

/** Sends a signal to every member of a process group. POSIX only. */
export function signalGroup(pgid: number, signal: NodeJS.Signals | 0): SignalResult {
	return send(-pgid, signal);
}

function send(target: number, signal: NodeJS.Signals | 0): SignalResult {
	// 0, 1 and -1 mean "my group", init and "everybody": never what is meant here.
	if (Math.abs(target) <= 1) return "denied";
	try {
		process.kill(target, signal);
		return "sent";
	} catch (error) {
		if (error instanceof Error && "code" in error && error.code === "ESRCH") return "gone";
		return "denied";
	}
}
