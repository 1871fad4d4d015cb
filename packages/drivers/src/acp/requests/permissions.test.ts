import { expect, test } from "vitest";
import { UNKNOWN_CALL } from "../translate/tool-call.ts";
import { actionOf } from "../translate/tool-item.ts";
import { ApprovedActions, permissionResponse } from "./permissions.ts";

const PLACE = { cwd: "/repo", diff: () => "" };

test("does not request approval of the same command in the same folder again", () => {
  const approved = new ApprovedActions();
  approved.add({ ...UNKNOWN_CALL, kind: "execute", rawInput: { command: "make", cwd: "sub" } }, PLACE);
  expect(approved.hasCommand("make", "/repo/sub")).toBe(true);
  expect(approved.hasCommand("make", "/repo")).toBe(false);
  expect(approved.hasCommand("make all", "/repo/sub")).toBe(false);
  expect(approved.hasCommand("PATH=/evil make", "/repo/sub")).toBe(false);
});

test("asks once about a command outside of the workspace, which OpenCode asks about twice", () => {
  const approved = new ApprovedActions();
  const rawInput = { command: "ls /var/lib", directories: ["/var/lib"], patterns: ["/var/lib/*"] };
  const first = { ...UNKNOWN_CALL, kind: "other", rawInput };
  const then = { ...UNKNOWN_CALL, kind: "execute", rawInput: { command: "ls /var/lib" } };
  expect(actionOf("i", first, PLACE)).toMatchObject({
    ...{
      kind: "command",
      command: "ls /var/lib",
      cwd: "/repo",
      reason: expect.stringContaining("(/var/lib)"),
    },
  });
  expect(approved.takeForFolders(then, PLACE)).toBe(false);
  approved.add(first, PLACE);
  expect(approved.takeForFolders({ ...then, rawInput: { command: "ls /var" } }, PLACE)).toBe(false);
  expect([approved.takeForFolders(then, PLACE), approved.takeForFolders(then, PLACE)]).toEqual([true, false]);
});

test("does not take approval of a partial diff for the whole file", () => {
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

test("allows one call for an approval of any scope", () => {
  for (const scope of ["once", "session", "always"] as const)
    expect(permissionResponse({ outcome: "allow", scope }, ALL)).toEqual(selected("allow_once"));
  expect(permissionResponse({ outcome: "allow", scope: "once" }, request("allow_always"))).toEqual(
    selected("allow_always"),
  );
});

test("rejects one call if declined, and cancels the request if stopped", () => {
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
