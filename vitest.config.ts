import { defineConfig } from "vitest/config";
import { searchPath } from "./packages/testkit/src/agent-program.ts";
import { CountReporter } from "./test/reporter.ts";

export default defineConfig({
  resolve: { conditions: ["@flint/source"] },
  ssr: { resolve: { conditions: ["@flint/source"], externalConditions: ["@flint/source"] } },
  test: {
    include: ["packages/*/src/**/*.test.ts", "test/**/*.test.ts"],
    isolate: false,
    pool: "forks",
    // Most of the time of the tests is spent waiting for other programs.
    maxWorkers: 2,
    reporters: ["default", new CountReporter()],
    env: { PATH: searchPath() },
    testTimeout: 30_000,
    hookTimeout: 30_000,
  },
});
