import { temporaryFolder } from "@flint/testkit";
import { expect, test } from "vitest";
import { enforcementOf, limitsOf } from "../../command-line/limit-flags.ts";
import { sessionSettings } from "./server.ts";

test("limits of the command line hold for each turn of the thread that a session starts", async () => {
  const { path } = await temporaryFolder();
  const values = { "max-cost": "2", "max-time": "600", limits: "best-effort" };
  const given = { limits: limitsOf(values), enforcement: enforcementOf(values) };
  const options = { root: path, cwd: path, budget: { turn: { steps: 9 }, thread: { turns: 3 } } };
  expect((await sessionSettings(options, given)).budget).toEqual({
    enforcement: "bestEffort",
    turn: { steps: 9, costUsd: 2, seconds: 600 },
    thread: { turns: 3 },
  });
  expect((await sessionSettings(options)).budget).toEqual(options.budget);
});

test("a limit that is not a number is refused", () => {
  expect(() => limitsOf({ "max-cost": "lots" })).toThrow("a number above 0");
});
