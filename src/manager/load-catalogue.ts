import type { AgentProblem } from "../agents/agent-definition.ts";
import { agentDirectories } from "../agents/agent-directories.ts";
import { type AgentCatalogue, discoverAgents } from "../agents/discover-agents.ts";
import { packageFiles } from "../settings/package-files.ts";
import { type FlightdeckSettings, readSettings } from "../settings/read-settings.ts";

/** Agents and settings as they stand for a folder, and all that is wrong with them. */
export interface Catalogue {
	readonly catalogue: AgentCatalogue;
	readonly settings: FlightdeckSettings;
	readonly problems: readonly AgentProblem[];
}

/** Reads agents and settings. What is broken is left out and reported; nothing is thrown for it. */
export async function loadCatalogue(from: {
	readonly agentDir: string;
	readonly cwd: string;
	/** Only a trusted project's agents and settings are read. */
	readonly projectTrusted: boolean;
}): Promise<Catalogue> {
	const { userDir, projectDir } = await agentDirectories(from);
	const [catalogue, { settings, problems }] = await Promise.all([
		discoverAgents({
			builtinDir: packageFiles().builtinAgentsDir,
			userDir,
			projectDir: from.projectTrusted ? projectDir : undefined,
		}),
		readSettings(from),
	]);
	const untrusted: AgentProblem[] =
		projectDir === undefined || from.projectTrusted
			? []
			: [
					{
						file: projectDir,
						message:
							"not read, since nobody has said that the project is trusted. In pi: /trust, or start it with --approve.",
					},
				];
	const warnings = catalogue.agents.flatMap((agent) => agent.warnings);
	return { catalogue, settings, problems: [...untrusted, ...catalogue.problems, ...warnings, ...problems] };
}
