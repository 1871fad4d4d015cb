import { describe, expect, test } from "vitest";
import {
  approvalPolicyFrom,
  codexApprovalPolicy,
  PERMISSION_PROFILES,
  RequestedPolicies,
  requestedSandbox,
} from "./policies.ts";

const READ_ONLY = { type: "readOnly", whenApproved: "workspaceWrite" };

describe("a permission profile", () => {
  test("is one of the three that are built into Codex", () => {
    expect(PERMISSION_PROFILES).toEqual(
      [":read-only", ":workspace", ":danger-full-access"].map((id) => ({
        id,
        description: null,
        allowed: true,
      })),
    );
  });

  test("stands for a sandbox", () => {
    expect(requestedSandbox(":read-only", "sandbox", null)).toEqual({ sandbox: READ_ONLY });
    expect(requestedSandbox(":danger-full-access", "sandbox", null)).toEqual({
      sandbox: { type: "dangerFullAccess" },
    });
  });

  test("that is not requested leaves the requested sandbox, or the one in force", () => {
    expect(requestedSandbox(null, "sandbox", "workspace-write")).toEqual({ sandbox: "workspace-write" });
    expect(requestedSandbox(undefined, "sandbox", undefined)).toEqual({});
  });

  test.each(["read-only", { type: "readOnly" }])(
    "that is read-only holds until something is approved: %j",
    (sandbox) => {
      expect(requestedSandbox(null, "sandbox", sandbox)).toEqual({ sandbox: READ_ONLY });
    },
  );

  test("is rejected beside a sandbox, with the message of Codex", () => {
    expect(() => requestedSandbox(":workspace", "sandboxPolicy", { type: "readOnly" })).toThrow(
      "`permissions` cannot be combined with `sandboxPolicy`",
    );
  });

  test("that is unknown is rejected, with the message of Codex", () => {
    expect(() => requestedSandbox(":nope", "sandbox", null)).toThrow(
      "failed to load configuration: default_permissions refers to unknown built-in profile `:nope`",
    );
  });

  test("is sent by its name, until a sandbox is requested in another way", () => {
    const policies = new RequestedPolicies();
    expect(policies.profile("t", { type: "readOnly" })).toBeNull();
    policies.note("t", { permissions: ":read-only", approvalPolicy: "on-request" });
    policies.note("t", { approvalPolicy: "untrusted" });
    policies.copy("t", "fork");
    expect(policies.profile("t", { type: "readOnly" })).toEqual({ id: ":read-only", extends: null });
    expect(policies.profile("t", { type: "dangerFullAccess" })).toBeNull();
    policies.note("t", { sandboxPolicy: { type: "readOnly" } });
    expect(policies.profile("t", { type: "readOnly" })).toBeNull();
    expect(policies.approvalPolicy("t", "unlessTrusted")).toBe("untrusted");
    expect(policies.profile("fork", { type: "readOnly" })).toEqual({ id: ":read-only", extends: null });
  });
});

test("clients are sent the approval policy that was requested, until another one is in force", () => {
  const policies = new RequestedPolicies();
  expect(policies.approvalPolicy("t", "unlessTrusted")).toBe("on-request");
  policies.note("t", { approvalPolicy: "untrusted" });
  policies.note("t", { approvalPolicy: null });
  expect(policies.approvalPolicy("t", "unlessTrusted")).toBe("untrusted");
  expect(policies.approvalPolicy("t", "never")).toBe("never");
  expect(codexApprovalPolicy("always")).toBe("untrusted");
});

test.each([
  ["untrusted", "always", "always"],
  ["on-request", "always", "unlessTrusted"],
  ["never", "always", "never"],
  ["untrusted", "unlessTrusted", "unlessTrusted"],
  ["on-request", "unlessTrusted", "unlessTrusted"],
  ["on-request", "onRequest", "onRequest"],
  ["untrusted", "onRequest", "unlessTrusted"],
  ["untrusted", "never", "unlessTrusted"],
  ["never", "never", "never"],
] as const)("requesting %s while %s is in force leads to %s", (requested, inForce, policy) => {
  expect(approvalPolicyFrom(requested, inForce)).toBe(policy);
});
