import { availableParallelism } from "node:os";
import { defineConfig } from "vitest/config";
import { searchPath } from "./packages/testkit/src/agent-program.ts";
import { LONG_TESTS, runsLongTests } from "./test/long-tests.ts";
import { CountReporter } from "./test/reporter.ts";
import { SlowFirstSequencer } from "./test/sequencer.ts";

/** Tests after which the machine looks different to others for a while, or that measure it: they run last, one by one. */
const ALONE = "packages/*/src/**/*.alone.test.ts";

export default defineConfig({
  resolve: { conditions: ["@flint/source"] },
  ssr: { resolve: { conditions: ["@flint/source"], externalConditions: ["@flint/source"] } },
  test: {
    isolate: false,
    pool: "forks",
    // Compiled modules of the last run: four workers and the further runs of CI read them instead of compiling again.
    experimental: { fsModuleCache: true, fsModuleCachePath: "node_modules/.cache/vitest-modules" },
    projects: [
      {
        extends: true,
        test: {
          name: "tests",
          include: ["packages/*/src/**/*.test.ts", "test/**/*.test.ts"],
          exclude: [ALONE, ...(runsLongTests() ? [] : LONG_TESTS)],
          // Most of the time is spent waiting for other programs, so there is room for more tests than cores.
          maxWorkers: Math.min(8, 2 * availableParallelism()),
          sequence: { groupOrder: 0 },
        },
      },
      {
        extends: true,
        test: { name: "alone", include: [ALONE], maxWorkers: 1, sequence: { groupOrder: 1 } },
      },
    ],
    sequence: { sequencer: SlowFirstSequencer },
    reporters: ["default", new CountReporter()],
    // Every Node process would read the certificates of the user's network at its start, which takes longer than the start
    // itself. No test leaves the machine.
    // Claude and OpenCode are Bun programs, which spend a fifth of their short lives compiling code that hardly runs.
    env: {
      PATH: searchPath(),
      NODE_EXTRA_CA_CERTS: "",
      BUN_JSC_useDFGJIT: "0",
      BUN_JSC_useConcurrentGC: "0",
    },
    // For machines that are busy with other things as well.
    testTimeout: 60_000,
    hookTimeout: 60_000,
    // Real agents and a busy machine are not ours to make deterministic. What needed its second try is listed at the end.
    retry: process.env.CI === "true" ? 1 : 0,
  },
});
