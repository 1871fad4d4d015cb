import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { needs } from "@flint/testkit";
import { describe, expect, test } from "vitest";
import { setUpExec } from "./exec-runs.ts";

/** A real agent takes its time, most of all to start on a busy machine. */
const TEST_MS = 90_000;

const NO_ANSWER_MATCHES = '{"type":"object","anyOf":[{"type":"string"}]}';
const DENY_TOUCH = '[[rule]]\ndecision = "deny"\nprefix = ["touch"]\n';

for (const agent of ["flint", "claude", "codex"] as const) {
  const real = agent === "flint" ? test : needs(agent);
  const model = agent === "flint" ? ["--offline"] : ["--agent", agent, "--offline"];

  describe(`the exit code of a run with ${agent}`, () => {
    real(
      "is 4 for an answer that does not match the schema",
      async () => {
        const { run, cwd } = await setUpExec();
        await writeFile(join(cwd, "never.json"), NO_ANSWER_MATCHES);
        const { code, output } = await run([...model, "--output-schema", "never.json", "count to 2"]);
        // Claude is asked again by its own program, which then gives up.
        expect(output).toMatch(/does not match never\.json|no answer that matches the outputSchema/);
        expect(code).toBe(4);
      },
      TEST_MS,
    );

    real(
      "is 3 if a rule declined an action",
      async () => {
        const { run, folder } = await setUpExec();
        const policy = join(folder, "ci.toml");
        await writeFile(policy, DENY_TOUCH);
        const { code, output } = await run([...model, "--policy", policy, "run `touch made.txt`"]);
        expect(output).toContain(`Rule 1 of ${policy} (line 1) denies it.`);
        expect(code).toBe(3);
      },
      TEST_MS,
    );

    real(
      "is 1 for a turn that failed",
      async () => {
        const { run } = await setUpExec();
        const { code, output } = await run([...model, "fail with boom"]);
        expect(output).toContain("boom");
        expect(code).toBe(1);
      },
      TEST_MS,
    );
  });
}
