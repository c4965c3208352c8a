// A child that speaks pi's command protocol and does what the types of the commands say. It exits when its input ends.
import { closeSync } from "node:fs";

const held = [];
let asking;

const send = (record) => process.stdout.write(`${JSON.stringify(record)}\n`);
const answer = (command, more = {}) =>
	send({ id: command.id, type: "response", command: command.type, success: true, ...more });

const commands = {
	echo: (command) => answer(command, { data: command }),
	/** Answered by the next `flush`, the last one first. */
	hold: (command) => held.push(command),
	flush: (command) => {
		for (const earlier of held.splice(0).reverse()) answer(earlier, { data: earlier.what });
		answer(command);
	},
	/** Answers with an id that nobody waits for, without an id, and twice. */
	confuse: (command) => {
		answer({ ...command, id: "op-999" }, { data: "wrong" });
		answer({ type: command.type }, { data: "wrong" });
		answer(command, { data: "right" });
		answer(command, { data: "again" });
	},
	refuse: (command) => answer(command, { success: false, error: command.why }),
	die: (command) => {
		process.stderr.write("about to die\n");
		process.exitCode = command.code;
		process.stdin.destroy();
	},
	/** Asks its user, and answers the command with what came back. */
	ask: (command) => {
		asking = command;
		send({ type: "extension_ui_request", id: "ui-1", method: command.method, title: command.title });
		if (command.method === "notify") answer(command, { data: "only shown" });
	},
	extension_ui_response: (response) => answer(asking, { data: response }),
	/** Closes its end of its input and stays. */
	deafen: (command) => {
		process.stdin.destroy();
		closeSync(0);
		answer(command);
		setTimeout(() => process.exit(0), 60_000);
	},
};

// Lines end at LF alone: other separators may stand raw inside of a record.
let rest = "";
process.stdin.setEncoding("utf8").on("data", (text) => {
	const lines = (rest + text).split("\n");
	rest = lines.pop();
	for (const line of lines) {
		const command = JSON.parse(line);
		commands[command.type](command);
	}
});
