// How many bytes our tools add to a real model request, with the built-in agents and 20 of the user's own.
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { createAgentDirectory } from "../support/agent-directory.ts";
import { startModelServer } from "../support/model-server.ts";
import { runPi } from "../support/run-pi.ts";
import { formatTable } from "./statistics.ts";

/** For the whole package, now and later, in bytes of the request. */
const BUDGET_BYTES = 3500;
const ROSTER_BUDGET_BYTES = 450;
const USER_AGENTS = 20;

const extension = fileURLToPath(new URL("../dist/extension.ts", import.meta.url));
const server = await startModelServer(() => ({ text: "ok" }));
const directory = await createAgentDirectory({ modelServerUrl: server.url });
try {
	const agents = join(directory.agentDir, "agents");
	await mkdir(agents, { recursive: true });
	for (let number = 1; number <= USER_AGENTS; number++) {
		const name = `specialist-${number}`;
		const description = `Knows everything about area ${number} of the product and its history`;
		await writeFile(
			join(agents, `${name}.md`),
			`---\nname: ${name}\ndescription: ${description}\n---\nYou are ${name}.\n`,
		);
	}
	const without = await request([]);
	const withUs = await request(["-e", extension]);
	const added = withUs.bytes - without.bytes;
	const tool = withUs.body.tools?.find((candidate) => candidate.function.name === "subagent");
	const roster = Buffer.byteLength(tool?.function.description?.split("Agents: ")[1] ?? "");
	const inSchema = JSON.stringify(tool?.function.parameters ?? {}).includes("specialist-1");
	console.log(
		formatTable([
			["", "bytes", "budget"],
			["request without", String(without.bytes), ""],
			["request with", String(withUs.bytes), ""],
			["added", String(added), String(BUDGET_BYTES)],
			["of it the declaration", String(Buffer.byteLength(JSON.stringify(tool))), ""],
			["of it the agent roster", String(roster), String(ROSTER_BUDGET_BYTES)],
		]),
	);
	console.log(tool?.function.description);
	const met = tool && added <= BUDGET_BYTES && roster <= ROSTER_BUDGET_BYTES && roster > 0 && !inSchema;
	console.log(met ? "met" : "MISSED");
	process.exitCode = met ? 0 : 1;
} finally {
	await server.stop();
	await directory.cleanup();
}

async function request(args: string[]) {
	const run = await runPi({ ...directory, args: ["--mode", "json", "--no-session", "-ne", ...args, "hi"] });
	const last = server.requests().at(-1);
	if (run.code !== 0 || !last) throw new Error(`pi made no request: ${run.stderr}`);
	return last;
}
