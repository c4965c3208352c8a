/** What stands in the place of a secret. */
const MASK = "[redacted]";
/** Shorter values are too likely to be ordinary words. */
const MIN_SECRET_CHARACTERS = 12;
const SECRET_NAME = /(?:KEY|TOKEN|SECRET|PASSWORD|PASSWD|CREDENTIALS?)$/i;
/** Keys that are recognised by their form, wherever they come from. */
const SECRET_FORMS =
	/\b(?:glpat-[A-Za-z0-9_-]{16,}|sk-[A-Za-z0-9_-]{16,}|gh[pousr]_[A-Za-z0-9]{20,}|github_pat_[A-Za-z0-9_]{20,}|xox[abprs]-[A-Za-z0-9-]{10,}|AKIA[A-Z0-9]{16})\b|(?<=\bBearer )[A-Za-z0-9._~+/-]{16,}=*/g;

/** Masks secrets in a text that is about to be stored or shown. */
export type Redact = (text: string) => string;

/** Knows the secrets of an environment by the names of their variables, and those that have a telling form. */
export function createRedactor(env: NodeJS.ProcessEnv): Redact {
	const secrets = Object.entries(env)
		.filter(([name, value]) => SECRET_NAME.test(name) && value !== undefined && value.length >= MIN_SECRET_CHARACTERS)
		.flatMap(([, value = ""]) => [value, JSON.stringify(value).slice(1, -1)]);
	// Longer ones first: one secret may be the start of another.
	const known = [...new Set(secrets)].sort((a, b) => b.length - a.length);
	return (text) => known.reduce((masked, secret) => masked.replaceAll(secret, MASK), text).replace(SECRET_FORMS, MASK);
}

/**
 * Masks secrets in the strings of a JSON text. Not in the text as it is: a value that looks like a part of the syntax would
 * break it.
 */
export function redactJson(json: string, redact: Redact): string {
	// Almost every line holds no secret, and is not taken apart for that.
	if (redact(json) === json) return json;
	return JSON.stringify(redactValue(JSON.parse(json), redact));
}

function redactValue(value: unknown, redact: Redact): unknown {
	if (typeof value === "string") return redact(value);
	if (Array.isArray(value)) return value.map((entry) => redactValue(entry, redact));
	if (typeof value !== "object" || value === null) return value;
	return Object.fromEntries(Object.entries(value).map(([key, entry]) => [redact(key), redactValue(entry, redact)]));
}
