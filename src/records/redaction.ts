/** What stands in the place of a secret. */
const MASK = "[redacted]";
/** Shorter values are too likely to be ordinary words. */
const MIN_SECRET_CHARACTERS = 12;
const SECRET_NAME = /(?:KEY|TOKEN|SECRET|PASSWORD|PASSWD|CREDENTIALS?)$/i;
/** Keys that are recognised by their form, wherever they come from. */
const SECRET_FORMS =
	/\b(?:sk-[A-Za-z0-9_-]{16,}|gh[pousr]_[A-Za-z0-9]{20,}|github_pat_[A-Za-z0-9_]{20,}|xox[abprs]-[A-Za-z0-9-]{10,}|AKIA[A-Z0-9]{16})\b|(?<=\bBearer )[A-Za-z0-9._~+/-]{16,}=*/g;

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
