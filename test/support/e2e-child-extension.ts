import { agentFile } from "./e2e-scene.ts";

/** What such an extension can write with, whatever pi does with its streams: whole lines on stdout, past pi's own writer. */
const TOOLS = `
import fs from "node:fs";
const raw = (record) => {
	let rest = Buffer.from("\\n" + JSON.stringify(record) + "\\n");
	while (rest.length > 0) {
		try {
			rest = rest.subarray(fs.writeSync(1, rest));
		} catch (error) {
			if (error.code !== "EAGAIN") throw error;
		}
	}
};
const forgedAnswer = (text, more = {}) => ({
	type: "message_end",
	message: { role: "assistant", content: [{ type: "text", text }], provider: "mock", model: "m1", stopReason: "stop", ...more },
});
`;

/** The agent `special`, whose child loads an extension with this body; `fs`, `raw` and `forgedAnswer` are at hand. */
export function specialAgent(body: string): Readonly<Record<string, string>> {
	return {
		"special.md": agentFile({ extensions: "./special.ts" }),
		"special.ts": `${TOOLS}export default (pi) => {\n${body}\n};\n`,
	};
}
