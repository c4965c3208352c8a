import { mkdir, mkdtemp, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { MOCK_MODELS, MOCK_PROVIDER, type MockModel } from "./mock-models.ts";

export interface AgentDirectoryOptions {
	/** Base URL of the model server; without one every model request is refused by a closed port. */
	readonly modelServerUrl?: string;
	/** Laid over {@link DEFAULT_SETTINGS}; objects are merged one level deep. */
	readonly settings?: Readonly<Record<string, unknown>>;
	/** In place of {@link MOCK_MODELS}. */
	readonly models?: readonly MockModel[];
}

export interface AgentDirectory {
	/** What `PI_CODING_AGENT_DIR` points to: `models.json`, `settings.json`, later `sessions/`. */
	readonly agentDir: string;
	/** A fresh empty folder to work in. */
	readonly cwd: string;
	/** The complete environment for pi: nothing of the caller's but the search path, the locale and the temp folder. */
	readonly env: NodeJS.ProcessEnv;
	/** Removes all of it. */
	cleanup(): Promise<void>;
}

/** Quiet, without extra requests to the model, and with retries after 50, 100 and 200 ms. */
export const DEFAULT_SETTINGS: Readonly<Record<string, unknown>> = {
	defaultProvider: MOCK_PROVIDER,
	defaultModel: "m1",
	quietStartup: true,
	theme: "dark",
	cacheWarming: "off",
	enableInstallTelemetry: false,
	retry: { enabled: true, maxRetries: 3, baseDelayMs: 50, maxAgentDelayMs: 500 },
};

/** A port where nobody listens (tcpmux). */
const REFUSING_URL = "http://127.0.0.1:1/v1";

/** The variables a process needs from its surroundings; keys, proxies and `PI_*` stay out. */
const INHERITED = ["PATH", "LANG", "LC_ALL", "TZ", "TMPDIR", "TEMP", "TMP", "SystemRoot", "ComSpec", "PATHEXT"];

/** Makes a temp folder with an agent directory for pi whose only models are the scripted ones. */
export async function createAgentDirectory(options: AgentDirectoryOptions = {}): Promise<AgentDirectory> {
	const root = await realpath(await mkdtemp(join(tmpdir(), "flightdeck-")));
	const [agentDir, cwd, home] = [join(root, "agent"), join(root, "workspace"), join(root, "home")];
	await Promise.all([agentDir, cwd, home].map((folder) => mkdir(folder)));
	await writeJson(join(agentDir, "models.json"), modelsFile(options));
	await writeJson(join(agentDir, "settings.json"), mergeSettings(DEFAULT_SETTINGS, options.settings ?? {}));
	return {
		agentDir,
		cwd,
		env: piEnvironment(agentDir, home),
		cleanup: () => rm(root, { recursive: true, force: true, maxRetries: 3 }),
	};
}

function modelsFile({ modelServerUrl = REFUSING_URL, models = MOCK_MODELS }: AgentDirectoryOptions) {
	const provider = { baseUrl: modelServerUrl, api: "openai-completions", apiKey: "mock-key", models };
	return { providers: { [MOCK_PROVIDER]: provider } };
}

function mergeSettings(base: Readonly<Record<string, unknown>>, over: Readonly<Record<string, unknown>>) {
	const merged = Object.entries(over).map(([name, value]) => {
		const below = base[name];
		return [name, isPlainObject(below) && isPlainObject(value) ? { ...below, ...value } : value];
	});
	return { ...base, ...Object.fromEntries(merged) };
}

function isPlainObject(value: unknown): value is Readonly<Record<string, unknown>> {
	return typeof value === "object" && value !== null && !Array.isArray(value);
}

function piEnvironment(agentDir: string, home: string): NodeJS.ProcessEnv {
	const inherited = INHERITED.map((name) => [name, process.env[name]]).filter(([, value]) => value !== undefined);
	return {
		...Object.fromEntries(inherited),
		HOME: home,
		USERPROFILE: home,
		PI_CODING_AGENT_DIR: agentDir,
		PI_OFFLINE: "1",
		PI_SKIP_VERSION_CHECK: "1",
		PI_TELEMETRY: "0",
	};
}

async function writeJson(path: string, value: unknown): Promise<void> {
	await writeFile(path, `${JSON.stringify(value, null, "\t")}\n`);
}
