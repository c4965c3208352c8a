import { shortRunId } from "./run-id.ts";
import type { ModelSource } from "./run-manifest.ts";

/** The two lines above a run in a shell: which build, and what runs with which model. Plain text. */
export function formatHeader(
	build: { readonly version: string; readonly root: string },
	runId: string,
	agent: string,
	model: { readonly value: string | undefined; readonly source: ModelSource },
): string {
	return [
		`pi-flightdeck v${build.version} (${build.root}) · node ${process.version} · ${process.platform}-${process.arch}`,
		`run ${shortRunId(runId)} · ${agent} · model ${model.value === undefined ? "pi's default" : `${model.value} (via ${model.source})`}`,
	].join("\n");
}
