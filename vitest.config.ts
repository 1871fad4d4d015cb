import { availableParallelism } from "node:os";
import { defineConfig } from "vitest/config";
import { searchPath } from "./packages/testkit/src/agent-program.ts";
import { CountReporter } from "./test/reporter.ts";
import { SlowFirstSequencer } from "./test/sequencer.ts";

export default defineConfig({
  resolve: { conditions: ["@flint/source"] },
  ssr: { resolve: { conditions: ["@flint/source"], externalConditions: ["@flint/source"] } },
  test: {
    include: ["packages/*/src/**/*.test.ts", "test/**/*.test.ts"],
    isolate: false,
    pool: "forks",
    // Most of the time is spent waiting for other programs, so there is room for more than one test for each core.
    maxWorkers: Math.min(8, 2 * availableParallelism()),
    sequence: { sequencer: SlowFirstSequencer },
    reporters: ["default", new CountReporter()],
    env: { PATH: searchPath() },
    testTimeout: 30_000,
    hookTimeout: 30_000,
  },
});
