/** The oldest Node.js that pi runs on, from its package.json. */
export const minimumNode = "22.19";

/** @param version as in `process.versions.node` */
export function runsOn(version: string): boolean {
	const [major = 0, minor = 0] = version.split(".").map(Number);
	const [needed = 0, neededMinor = 0] = minimumNode.split(".").map(Number);
	return major > needed || (major === needed && minor >= neededMinor);
}
