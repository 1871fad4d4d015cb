import { expect, test } from "vitest";
import { answerOf } from "./permission.ts";

const option = (kind: string) => ({ optionId: `the ${kind}`, name: kind, kind });
const request = (...kinds: readonly string[]) => ({ options: kinds.map(option) });
const ALL = request("allow_always", "allow_once", "reject_once", "reject_always");
const selected = (kind: string) => ({ outcome: { outcome: "selected", optionId: `the ${kind}` } });
const CANCELLED = { outcome: { outcome: "cancelled" } };

test("a yes for however long is a yes to this one call, because the agent's always may cover more", () => {
  for (const scope of ["once", "session", "always"] as const)
    expect(answerOf({ outcome: "allow", scope }, ALL)).toEqual(selected("allow_once"));
  expect(answerOf({ outcome: "allow", scope: "once" }, request("allow_always"))).toEqual(
    selected("allow_always"),
  );
});

test("a no is a no to this one call, and to stop is to cancel", () => {
  expect(answerOf({ outcome: "deny", scope: "once" }, ALL)).toEqual(selected("reject_once"));
  expect(answerOf({ outcome: "deny", scope: "once" }, request("reject_always"))).toEqual(
    selected("reject_always"),
  );
  expect(answerOf({ outcome: "cancel", scope: "once" }, ALL)).toEqual(CANCELLED);
});

test("where no option says what was decided, the agent is not let do it", () => {
  expect(answerOf({ outcome: "allow", scope: "once" }, request("reject_once"))).toEqual(CANCELLED);
  expect(answerOf({ outcome: "allow", scope: "once" }, { options: "all of them" })).toEqual(CANCELLED);
});
