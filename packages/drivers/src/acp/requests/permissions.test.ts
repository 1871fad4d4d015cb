import { expect, test } from "vitest";
import { UNKNOWN_CALL } from "../translate/tool-call.ts";
import { ApprovedActions, permissionResponse } from "./permissions.ts";

const PLACE = { cwd: "/repo", diff: () => "" };

test("exactly the approved command, in its folder, needs no second approval", () => {
  const approved = new ApprovedActions();
  approved.add({ ...UNKNOWN_CALL, kind: "execute", rawInput: { command: "make", cwd: "sub" } }, PLACE);
  expect(approved.hasCommand("make", "/repo/sub")).toBe(true);
  expect(approved.hasCommand("make", "/repo")).toBe(false);
  expect(approved.hasCommand("make all", "/repo/sub")).toBe(false);
  expect(approved.hasCommand("PATH=/evil make", "/repo/sub")).toBe(false);
});

test("approving a partial diff does not approve replacing the whole file by it", () => {
  const approved = new ApprovedActions();
  const content = [{ type: "diff", path: "a.txt", oldText: "two", newText: "2" }];
  approved.add({ ...UNKNOWN_CALL, kind: "edit", content }, PLACE);
  expect(approved.hasWrite("/repo/a.txt", "two", "2")).toBe(true);
  expect(approved.hasWrite("/repo/a.txt", "one\ntwo\n", "2")).toBe(false);
  expect(approved.hasWrite("/repo/b.txt", "two", "2")).toBe(false);
});

const option = (kind: string) => ({ optionId: `the ${kind}`, name: kind, kind });
const request = (...kinds: readonly string[]) => ({ options: kinds.map(option) });
const ALL = request("allow_always", "allow_once", "reject_once", "reject_always");
const selected = (kind: string) => ({ outcome: { outcome: "selected", optionId: `the ${kind}` } });
const CANCELLED = { outcome: { outcome: "cancelled" } };

test("approval of any scope allows this one call, because the agent's always may cover more", () => {
  for (const scope of ["once", "session", "always"] as const)
    expect(permissionResponse({ outcome: "allow", scope }, ALL)).toEqual(selected("allow_once"));
  expect(permissionResponse({ outcome: "allow", scope: "once" }, request("allow_always"))).toEqual(
    selected("allow_always"),
  );
});

test("declining rejects this one call, and stopping cancels the request", () => {
  expect(permissionResponse({ outcome: "deny", scope: "once" }, ALL)).toEqual(selected("reject_once"));
  expect(permissionResponse({ outcome: "deny", scope: "once" }, request("reject_always"))).toEqual(
    selected("reject_always"),
  );
  expect(permissionResponse({ outcome: "cancel", scope: "once" }, ALL)).toEqual(CANCELLED);
});

test("cancels the request if no option fits the decision", () => {
  expect(permissionResponse({ outcome: "allow", scope: "once" }, request("reject_once"))).toEqual(CANCELLED);
  expect(permissionResponse({ outcome: "allow", scope: "once" }, { options: "all of them" })).toEqual(
    CANCELLED,
  );
});
