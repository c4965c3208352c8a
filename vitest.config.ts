import { defineConfig } from "vitest/config";

export default defineConfig({
	test: {
		environment: "node",
		globals: false,
		passWithNoTests: false,
		retry: 0,
		// Tests start processes and change their environment: each file gets a process of its own, and few run at
		// once, so that measured times mean something.
		pool: "forks",
		fileParallelism: true,
		maxWorkers: 2,
		projects: [
			{
				extends: true,
				test: {
					name: "core",
					include: ["test/**/*.test.ts"],
					exclude: ["test/e2e/**", "test/fixtures/**"],
					testTimeout: 30_000,
					hookTimeout: 30_000,
				},
			},
			{
				extends: true,
				test: {
					name: "e2e",
					include: ["test/e2e/**/*.test.ts"],
					testTimeout: 120_000,
					hookTimeout: 60_000,
				},
			},
		],
	},
});
