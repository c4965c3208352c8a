const MAX_CHARACTERS = 64;

/** Marks are part of letters in many scripts; in Latin ones NFC has joined them to their letter already. */
const ALLOWED = /^[\p{L}\p{M}\p{Nd}_.-]+$/u;

/** Devices that Windows opens in place of a file, whatever extension follows the name. */
const WINDOWS_DEVICE = /^(?:con|prn|aux|nul|com\d|lpt\d)(?:\.|$)/i;

/**
 * Why this can't be the name of an agent, or undefined if it can. Names become parts of paths, command lines and
 * prompts, so one rule serves all: letters of any script, digits, `-`, `_` and `.`, in the composed form (NFC).
 */
export function agentNameProblem(name: string): string | undefined {
	if (name === "") return "a name can't be empty";
	// The first test spares the second one a copy of a huge text; no character takes more than two units.
	if (name.length > 2 * MAX_CHARACTERS || [...name].length > MAX_CHARACTERS) {
		return `a name has at most ${MAX_CHARACTERS} characters`;
	}
	if (!ALLOWED.test(name)) return "a name consists of letters, digits, `-`, `_` and `.`";
	if (name !== name.normalize("NFC")) return "a name is written in composed characters (NFC)";
	// A leading dot hides a file, a leading dash reads as a flag, a leading mark would join the text before it.
	if (/^[.\p{M}-]/u.test(name)) return "a name starts with a letter, a digit or `_`";
	// Windows drops it, and two names would mean one file.
	if (name.endsWith(".")) return "a name can't end with `.`";
	if (WINDOWS_DEVICE.test(name)) return `\`${name}\` names a device on Windows`;
	return undefined;
}
