import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

/** The files of this package that are used at run time, whether it runs from its sources or as published. */
export interface PackageFiles {
	readonly root: string;
	readonly version: string;
	readonly builtinAgentsDir: string;
	/** The extension that is loaded into pi children. */
	readonly childExtension: string;
}

const PACKAGE_NAME = "pi-flightdeck";

let found: PackageFiles | undefined;

/** @throws Error when the package's own files are gone, which means that it must be installed again */
export function packageFiles(): PackageFiles {
	found ??= find(dirname(fileURLToPath(import.meta.url)));
	return found;
}

function find(start: string): PackageFiles {
	for (let folder = start; ; folder = dirname(folder)) {
		const version = versionOf(join(folder, "package.json"));
		if (version !== undefined) {
			// Published code lies in dist/ and uses what lies beside it; sources use sources.
			const published = join(folder, "dist", "child.js");
			const fromSources = start.startsWith(join(folder, "src"));
			return {
				root: folder,
				version,
				builtinAgentsDir: join(folder, "agents"),
				childExtension: fromSources ? join(folder, "src", "child", "index.ts") : published,
			};
		}
		if (dirname(folder) === folder) throw new Error(`${PACKAGE_NAME} is incomplete: install it again.`);
	}
}

function versionOf(manifest: string): string | undefined {
	if (!existsSync(manifest)) return undefined;
	const content: unknown = JSON.parse(readFileSync(manifest, "utf8"));
	if (typeof content !== "object" || content === null || !("name" in content) || content.name !== PACKAGE_NAME)
		return undefined;
	return "version" in content ? String(content.version) : "0.0.0";
}
