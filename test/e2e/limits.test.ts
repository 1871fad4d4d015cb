import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { needs } from "@flint/testkit";
import { expect, test } from "vitest";
import { setUpExec } from "./exec-runs.ts";

/** A real agent takes its time, most of all to start on a busy machine. */
const TEST_MS = 90_000;

const COMMANDS = "run `echo one`, then run `echo two`";

for (const agent of ["claude", "codex"] as const) {
  needs(agent)(
    `${agent} is stopped at its limit of model calls, with an exit code of its own`,
    async () => {
      const { run } = await setUpExec();
      const { code, output } = await run(["--agent", agent, "--offline", "--max-steps", "1", COMMANDS]);
      expect(output).toContain("Stopped at the model call limit of 1 (--max-steps).");
      expect(code).toBe(5);
    },
    TEST_MS,
  );
}

needs("claude")(
  "claude is stopped at its limit of cost while it works, although it reports the cost at the end",
  async () => {
    const { run } = await setUpExec();
    const { code, output } = await run([
      "--agent",
      "claude",
      "--offline",
      "--max-cost",
      "0.0000001",
      COMMANDS,
    ]);
    expect(output).toContain("Stopped at the cost limit of $1e-7 (--max-cost).");
    expect(output).not.toContain("two");
    expect(code).toBe(5);
  },
  TEST_MS,
);

test("a limit that an agent does not report enough to keep is rejected before anything starts", async () => {
  const { run, folder } = await setUpExec();
  const agent = `${process.execPath} -e process.exit(7) acp`;
  const strict = await run(["--agent", agent, "--max-cost", "1", "hello"]);
  expect(strict.output).toMatch(/budget\.turn\.cost_usd cannot be enforced: .* does not report its cost\./);
  expect(strict.code).not.toBe(0);
  expect(folder).not.toBe("");
});

test("a price list with a mistake names the key and the model", async () => {
  const { run } = await setUpExec('[models."custom/m"]\nprice_input = 1\n');
  expect((await run(["--offline", "hello"])).output).toContain(
    'models."custom/m" needs both price_input and price_output.',
  );
  const typo = await setUpExec('[models."custom/m"]\nprice_inptu = 1\n');
  expect((await typo.run(["--offline", "hello"])).output).toMatch(/price_inptu.*price_input/s);
});

test("the final message is written to a file as well", async () => {
  const { run, folder } = await setUpExec();
  const file = join(folder, "last.txt");
  const { code } = await run(["--offline", "-o", file, "what is in this folder?"]);
  expect([code, (await readFile(file, "utf8")).length > 0]).toEqual([0, true]);
});
