import { describe, expect, test } from "vitest";
import {
  ApprovalPolicy,
  Decision,
  isUnconfined,
  SandboxPolicy,
  SandboxPolicyInput,
  sandboxPolicyOf,
} from "./policy.ts";

describe("policies", () => {
  test("the approval policy is never, onRequest, unlessTrusted or always, and nothing else [S0-67]", () => {
    expect(ApprovalPolicy.options).toEqual(["never", "onRequest", "unlessTrusted", "always"]);
    expect(
      ["on-request", "untrusted", "", null].filter((word) => ApprovalPolicy.safeParse(word).success),
    ).toEqual([]);
  });

  test.each([
    { type: "dangerFullAccess" },
    { type: "readOnly" },
    { type: "workspaceWrite" },
    { type: "workspaceWrite", writableRoots: ["/repo", "/tmp"], networkAccess: true },
    { type: "externalSandbox" },
    { type: "externalSandbox", networkAccess: "restricted" },
    { type: "externalSandbox", networkAccess: "enabled" },
  ])("the sandbox policy %j is accepted as it is [S0-68, S2-85]", (policy) => {
    expect(SandboxPolicy.parse(policy)).toEqual(policy);
    expect(sandboxPolicyOf(SandboxPolicyInput.parse(policy))).toEqual(policy);
  });

  test.each([
    ["an unknown policy", { type: "openSea" }, "type"],
    [
      "network access of another policy",
      { type: "workspaceWrite", networkAccess: "enabled" },
      "networkAccess",
    ],
    [
      "network access that is not a string",
      { type: "externalSandbox", networkAccess: true },
      "networkAccess",
    ],
    ["a root that is not in a list", { type: "workspaceWrite", writableRoots: "/repo" }, "writableRoots"],
  ])("%s is rejected, with the field named", (_name, policy, field) => {
    const paths = SandboxPolicy.safeParse(policy).error?.issues.map((issue) => issue.path.join("."));
    expect(paths).toEqual([field]);
  });
});

test("only dangerFullAccess and externalSandbox are unconfined", () => {
  const types = ["readOnly", "workspaceWrite", "dangerFullAccess", "externalSandbox"] as const;
  expect(types.filter((type) => isUnconfined({ type }))).toEqual(["dangerFullAccess", "externalSandbox"]);
});

describe("a policy by its short name", () => {
  test.each([
    ["dangerFullAccess", "dangerFullAccess"],
    ["danger-full-access", "dangerFullAccess"],
    ["readOnly", "readOnly"],
    ["read-only", "readOnly"],
    ["workspaceWrite", "workspaceWrite"],
    ["workspace-write", "workspaceWrite"],
    ["externalSandbox", "externalSandbox"],
    ["external-sandbox", "externalSandbox"],
  ])("%s is the policy of type %s", (shorthand, type) => {
    expect(sandboxPolicyOf(SandboxPolicyInput.parse(shorthand))).toEqual({ type });
  });

  test.each(["read_only", "READ-ONLY", "", "toString", "__proto__"])("%j is not one", (word) => {
    expect(SandboxPolicyInput.safeParse(word).success).toBe(false);
  });
});

describe("a decision", () => {
  test("applies once by default", () => {
    expect(Decision.parse({ outcome: "allow" })).toEqual({ outcome: "allow", scope: "once" });
    const lasting = { outcome: "deny", scope: "session", rule: "no network", message: "Not here." };
    expect(Decision.parse(lasting)).toEqual(lasting);
  });

  test.each([{}, { outcome: "yes" }, { outcome: "allow", scope: "forever" }, "allow", null])(
    "%j is not one",
    (value) => {
      expect(Decision.safeParse(value).success).toBe(false);
    },
  );
});
