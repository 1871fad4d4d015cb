import type { Action } from "@flint/protocol";
import { expect, test } from "vitest";
import { RerunOffers } from "../denials/rerun.ts";

function action(command: string, host: string | undefined, hasRun = true): Action {
  const after = { itemId: "i", ranMs: 1, evidence: [] };
  return {
    ...{ kind: "command", itemId: "i", command, cwd: "/code" },
    ...(host === undefined ? {} : { needs: { network: { hosts: [host] } } }),
    ...(hasRun ? { after } : {}),
  };
}

test("offers the same command with the same need once", () => {
  const offers = new RerunOffers();
  expect([offers.admit(action("a", "x.example")), offers.admit(action("a", "x.example"))]).toEqual([
    true,
    false,
  ]);
  expect(offers.admit(action("a", "y.example"))).toBe(true);
  expect(offers.admit(action("b", "x.example"))).toBe(true);
});

test("does not count what has not run before", () => {
  const offers = new RerunOffers();
  const first = action("a", "x.example", false);
  expect([offers.admit(first), offers.admit(first), offers.admit(action("a", "x.example"))]).toEqual([
    ...[true, true, true],
  ]);
});
