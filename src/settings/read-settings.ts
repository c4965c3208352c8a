import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { type OptionName, optionsOf, RUN_OPTIONS } from "./option-table.ts";

/** What the user and the project have set. A missing field means: not set anywhere. */
export interface FlightdeckSettings {
	readonly model?: string;
	readonly thinking?: string;
	/** From the user's file alone: a project cannot give its agents more than the session has. */
	readonly tools: readonly string[];
	/** From the user's file alone: it is their machine. 0: by cores and memory. */
	readonly concurrency: number;
	/** The lower of the two settings: a project cannot raise a limit of the user's. */
	readonly maxDepth: number;
}

interface SettingsProblem {
	readonly file: string;
	readonly message: string;
}

export interface ReadSettings {
	readonly settings: FlightdeckSettings;
	readonly problems: readonly SettingsProblem[];
}

/**
 * Reads `flightdeck.*` from pi's settings files: the user's, and the project's where that is trusted. What is not as it
 * should be is left out and reported.
 */
export async function readSettings(from: {
	readonly agentDir: string;
	readonly cwd: string;
	readonly projectTrusted: boolean;
}): Promise<ReadSettings> {
	const problems: SettingsProblem[] = [];
	const user = await readFileSettings(join(from.agentDir, "settings.json"), problems);
	const project = from.projectTrusted ? await readFileSettings(join(from.cwd, ".pi", "settings.json"), problems) : {};
	const userDepth = user.maxDepth ?? RUN_OPTIONS.maxDepth.off;
	return {
		settings: {
			...user,
			...project,
			tools: user.tools ?? RUN_OPTIONS.tools.off,
			concurrency: user.concurrency ?? RUN_OPTIONS.concurrency.off,
			maxDepth: Math.min(userDepth, project.maxDepth ?? userDepth),
		},
		problems,
	};
}

interface FileSettings {
	model?: string;
	thinking?: string;
	tools?: string[];
	concurrency?: number;
	maxDepth?: number;
}

async function readFileSettings(file: string, problems: SettingsProblem[]): Promise<FileSettings> {
	const section = await readSection(file, problems);
	const found: FileSettings = {};
	const known: readonly string[] = optionsOf("settings");
	for (const [name, value] of Object.entries(section)) {
		if (!known.includes(name)) {
			problems.push({ file, message: `flightdeck.${name} is no setting. Known: ${known.join(", ")}.` });
			continue;
		}
		const problem = valueProblem(name as OptionName, value);
		if (problem) problems.push({ file, message: `flightdeck.${name} ${problem}` });
		else if (value !== "") Object.assign(found, { [name]: value });
	}
	return found;
}

function valueProblem(name: OptionName, value: unknown): string | undefined {
	switch (RUN_OPTIONS[name].kind) {
		case "string":
			return typeof value === "string" ? undefined : "must be a text.";
		case "names": {
			const isList = Array.isArray(value) && value.every((entry) => typeof entry === "string");
			return isList ? undefined : "must be a list of names.";
		}
		case "integer":
			return Number.isInteger(value) && Number(value) >= 0 ? undefined : "must be a whole number from 0 on.";
	}
}

async function readSection(file: string, problems: SettingsProblem[]): Promise<Record<string, unknown>> {
	let text: string;
	try {
		text = await readFile(file, "utf8");
	} catch (error) {
		// No settings file is the usual case.
		if (!(error instanceof Error && "code" in error && error.code === "ENOENT"))
			problems.push({ file, message: `cannot be read: ${error instanceof Error ? error.message : error}` });
		return {};
	}
	try {
		const settings: unknown = JSON.parse(text);
		const section = isObject(settings) ? settings.flightdeck : undefined;
		if (section === undefined) return {};
		if (isObject(section)) return section;
		problems.push({ file, message: "flightdeck must be an object." });
	} catch {
		// pi itself reports a settings file that is not JSON; here it only means that ours is unknown.
		problems.push({ file, message: "is not valid JSON; its flightdeck settings are ignored." });
	}
	return {};
}

function isObject(value: unknown): value is Record<string, unknown> {
	return typeof value === "object" && value !== null && !Array.isArray(value);
}
