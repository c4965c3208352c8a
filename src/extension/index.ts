import { type ExtensionAPI, type ExtensionContext, getAgentDir, getPackageDir } from "@earendil-works/pi-coding-agent";
import { AgentManager } from "../manager/agent-manager.ts";
import { printableLine } from "../manager/describe-activity.ts";
import { type Catalogue, loadCatalogue } from "../manager/load-catalogue.ts";
import { flightdeckDirectory } from "../records/run-directory.ts";
import { locatePi } from "../runtimes/pi/locate-pi.ts";
import type { FlightdeckSettings } from "../settings/read-settings.ts";
import { isProjectTrusted } from "./project-trust.ts";
import { subagentTool } from "./subagent-tool.ts";

/** pi-flightdeck inside pi. Loading it starts nothing: agents are read when a session starts, a run when it is asked for. */
export default function flightdeck(pi: ExtensionAPI): void {
	let manager: AgentManager | undefined;
	const context = {
		pi,
		load: (ctx: ExtensionContext) =>
			loadCatalogue({ agentDir: getAgentDir(), cwd: ctx.cwd, projectTrusted: isProjectTrusted(pi, ctx) }),
		manager: ({ concurrency }: FlightdeckSettings) => {
			manager ??= createManager(concurrency);
			return manager;
		},
	};
	pi.on("session_start", async (_event, ctx) => {
		const known = await context.load(ctx);
		pi.registerTool(subagentTool(known, context));
		report(known, ctx);
	});
	pi.on("session_shutdown", async () => {
		// pi has aborted the tool calls of the session, and with them their runs.
		const ending = manager;
		manager = undefined;
		await ending?.noteShutdown();
		ending?.dispose();
	});
}

function createManager(concurrency: number): AgentManager {
	const agentDir = getAgentDir();
	return new AgentManager({
		agentDir,
		concurrency,
		flightdeckDir: flightdeckDirectory({ env: process.env, agentDir }),
		program: locatePi({ host: { packageDir: getPackageDir(), script: process.argv[1] } }),
	});
}

/** What is wrong with agent files and settings is said once per session, where somebody can see it. */
function report({ problems }: Catalogue, ctx: ExtensionContext): void {
	if (problems.length === 0) return;
	const lines = problems.map(({ file, message }) => printableLine(`pi-flightdeck: ${file}: ${message}`, 500));
	if (ctx.hasUI) ctx.ui.notify(lines.join("\n"), "warning");
	else process.stderr.write(`${lines.join("\n")}\n`);
}
