import {
	type ExtensionAPI,
	type ExtensionContext,
	getAgentDir,
	hasTrustRequiringProjectResources,
	ProjectTrustStore,
} from "@earendil-works/pi-coding-agent";

/**
 * Whether somebody decided to trust the project. pi says "trusted" also of a project in which it found nothing to ask about,
 * and agent files are nothing to it: a cloned repository could bring agents without anybody having been asked.
 */
export function isProjectTrusted(pi: ExtensionAPI, ctx: ExtensionContext): boolean {
	if (!ctx.isProjectTrusted()) return false;
	if (hasTrustRequiringProjectResources(ctx.cwd)) return true;
	const approved = process.argv.includes("--approve") || process.argv.includes("-a");
	return (
		approved ||
		pi.getSettings().defaultProjectTrust === "always" ||
		new ProjectTrustStore(getAgentDir()).get(ctx.cwd) === true
	);
}
