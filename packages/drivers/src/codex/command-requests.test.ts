import { type BrokeredCommand, GRANT_CHECK } from "@flint/core/ports";
import type { Decision, ThreadSettings } from "@flint/protocol";
import type { CodexServerCall } from "@flint/protocol/codex";
import { RecordingTurn } from "@flint/testkit";
import { describe, expect, test } from "vitest";
import { testSettings } from "../testing/session-spec.ts";
import { GrantedPermissions } from "./permissions.ts";
import { answerServerRequest } from "./server-requests.ts";
import { beginTurn } from "./translate.ts";

const SETTINGS = testSettings("codex/default", "/usr/share");
const OPEN: ThreadSettings = { ...SETTINGS, sandboxPolicy: { type: "dangerFullAccess" } };
const IDS = { threadId: "t", turnId: "u", itemId: "exec-1" };
const ALLOW: Decision = { outcome: "allow", scope: "once" };
const DENY: Decision = { outcome: "deny", scope: "once" };

const REFUSED = "/etc cannot be opened: it belongs to the system";

const { before, between } = GRANT_CHECK;
const LINE = `/bin/bash -lc '${before}exec-1${between}exec-1\nmake all'`;

/** Answers requests in one turn, and records what is granted. */
function setUp(decision: Decision = ALLOW, settings = SETTINGS, hasBroker = true) {
  const turn = new RecordingTurn({ text: "go", settings, decide: () => decision });
  const grants: { readonly name: string; readonly command: BrokeredCommand }[] = [];
  const broker = {
    bridge: () => [],
    grant: () => "",
    grantAs: async (name: string, command: BrokeredCommand) => void grants.push({ name, command }),
    resolveWritable: async (path: string) => (path.startsWith("/etc") ? { problem: REFUSED } : { path }),
    close: async () => undefined,
  };
  const granting = hasBroker ? { broker, signal: turn.signal } : undefined;
  const granted = new GrantedPermissions();
  const state = () => beginTurn(settings.cwd, "prompt", 0);
  const answer = (call: CodexServerCall) => answerServerRequest(call, { turn, state, granting, granted });
  return { turn, grants, answer, granted };
}

function command(more: object = {}): CodexServerCall {
  const params = { ...IDS, command: LINE, cwd: "/usr/share", ...more };
  return { method: "item/commandExecution/requestApproval", params };
}

function permissions(asked: object): CodexServerCall {
  const params = { ...IDS, cwd: "/usr/share", reason: "For the build.", permissions: asked };
  return { method: "item/permissions/requestApproval", params };
}

describe("a command request of Codex", () => {
  const fileSystem = { read: null, write: ["/var/lib", "/usr/share/x"], entries: null };
  const entries = [
    { path: { type: "path", path: "/var/lib" }, access: "write" },
    { path: { type: "glob_pattern", pattern: "**/x" }, access: "write" },
    { path: { type: "path", path: "/etc" }, access: "read" },
  ];

  test.each([
    ["a plain one", {}, undefined],
    ["require_escalated", { reason: "Because." }, { unconfined: true }],
    ["network", { additionalPermissions: { network: { enabled: true } } }, { network: "all" }],
    ["folders", { reason: "x", additionalPermissions: { fileSystem } }, { write: ["/var/lib"] }],
    [
      "no folder that the sandbox never opens",
      { additionalPermissions: { fileSystem: { write: ["/etc"] } } },
      undefined,
    ],
    ["entries", { additionalPermissions: { fileSystem: { entries } } }, { write: ["/var/lib"] }],
    ["nothing more", { additionalPermissions: { network: null, fileSystem: null } }, undefined],
  ])("asks the user about %s with what it needs, and grants exactly that", async (_, more, needs) => {
    const { turn, grants, answer } = setUp();
    expect(await answer(command(more))).toEqual({ decision: "accept" });
    expect(turn.actions).toHaveLength(1);
    expect(turn.actions[0]).toMatchObject({ kind: "command", command: "make all", cwd: "/usr/share" });
    expect(turn.actions[0]?.needs).toEqual(needs);
    if (needs === undefined) expect(grants).toEqual([]);
    else
      expect(grants).toMatchObject([{ name: "exec-1", command: { argv: ["/bin/bash", "-lc", "make all"] } }]);
  });

  test("names what it asks for and never gets: folders that the sandbox never opens, and patterns", async () => {
    const { turn, answer } = setUp();
    const write = ["/etc", "/var/lib"];
    await answer(command({ additionalPermissions: { fileSystem: { write, entries } } }));
    const pattern = '{"type":"glob_pattern","pattern":"**/x"}';
    expect(turn.actions[0]).toMatchObject({
      reason: `(Not included: ${REFUSED}, ${pattern}.)`,
      needs: { write: ["/var/lib"] },
    });
  });

  test("is granted a sandbox that is wider by what was shown", async () => {
    const { grants, answer } = setUp();
    await answer(command({ additionalPermissions: { fileSystem, network: { enabled: true } } }));
    expect(grants[0]?.command).toMatchObject({
      policy: { type: "workspaceWrite" },
      workspace: "/usr/share",
      permission: { network: "all", write: ["/var/lib"] },
    });
  });

  test("is shown whole, and granted nothing, if a program of the project is to be its shell", async () => {
    const { turn, grants, answer } = setUp();
    const line = LINE.replace("/bin/bash", "/usr/share/project/bash");
    expect(await answer(command({ reason: "x", command: line }))).toEqual({ decision: "accept" });
    expect(turn.actions).toMatchObject([{ kind: "command", command: line }]);
    expect(grants).toEqual([]);
  });

  test("is granted nothing if the user declines", async () => {
    const { grants, answer, turn } = setUp(DENY);
    expect(await answer(command({ reason: "Because." }))).toEqual({ decision: "decline" });
    expect([turn.actions.length, grants]).toEqual([1, []]);
  });

  test.each([
    ["https", ["example.org:443"]],
    ["http", ["example.org:80"]],
    ["socks5Tcp", ["example.org"]],
  ])("asks about a host by %s as a need of the running command", async (protocol, hosts) => {
    const { turn, answer } = setUp({ outcome: "allow", scope: "session" });
    const context = { networkApprovalContext: { host: "example.org", protocol } };
    expect(await answer(command(context))).toEqual({ decision: "acceptForSession" });
    expect(turn.actions).toMatchObject([{ kind: "command", running: true, needs: { network: { hosts } } }]);
  });

  test.each([
    [SETTINGS, false],
    [OPEN, true],
  ])("says that it stays inside where nothing can run outside (%#)", async (settings, isOpen) => {
    const { turn, answer, grants } = setUp(ALLOW, settings, false);
    await answer(command({ reason: "Because." }));
    expect(turn.actions[0]?.reason?.includes("it stays in the sandbox")).toBe(!isOpen);
    expect([turn.actions[0]?.needs, grants]).toEqual([undefined, []]);
  });
});

describe("a permissions request of Codex", () => {
  const asked = {
    network: { enabled: true },
    fileSystem: { read: ["/etc"], write: ["/var/lib", "/usr/share"] },
  };

  test.each([
    ["once", "turn"],
    ["session", "session"],
    ["always", "session"],
  ] as const)(
    "that is allowed %s is answered with what is really given, for the %s",
    async (scope, given) => {
      const { turn, answer, grants, granted } = setUp({ outcome: "allow", scope });
      expect(await answer(permissions(asked))).toEqual({
        permissions: { network: { enabled: true }, fileSystem: { read: ["/etc"], write: ["/var/lib"] } },
        scope: given,
      });
      const needs = { network: "all", write: ["/var/lib"] };
      expect(turn.actions).toMatchObject([
        { kind: "tool", tool: "permissions", reason: "For the build.", needs },
      ]);
      await answer(command());
      expect(grants[0]?.command.permission).toEqual(needs);
      granted.endTurn();
      await answer(command());
      expect(grants).toHaveLength(given === "turn" ? 1 : 2);
    },
  );

  test("that is declined gives nothing", async () => {
    const { turn, answer, grants } = setUp(DENY);
    expect(await answer(permissions(asked))).toEqual({ permissions: {}, scope: "turn" });
    await answer(command());
    expect([turn.actions.length, grants]).toEqual([2, []]);
  });

  test("for what no approval opens is declined without a question, and the user reads why", async () => {
    const { turn, answer } = setUp();
    const nothing = { permissions: {}, scope: "turn" };
    expect(await answer(permissions({ fileSystem: { write: ["/etc"] } }))).toEqual(nothing);
    const message = `Codex asks to write what no approval opens, which was declined: ${REFUSED}.`;
    expect([turn.actions, turn.events]).toEqual([[], [{ type: "warning", message, reason: "agent" }]]);
  });

  test("that cannot be fulfilled here is declined, and the user reads why", async () => {
    const { turn, answer } = setUp(ALLOW, SETTINGS, false);
    expect(await answer(permissions(asked))).toEqual({ permissions: {}, scope: "turn" });
    expect(turn.events).toMatchObject([{ type: "warning" }]);
  });
});

test("a change with a root is asked about, and the root is named as not granted", async () => {
  const { turn, answer } = setUp();
  const call = {
    method: "item/fileChange/requestApproval",
    params: { ...IDS, grantRoot: "/var/lib" },
  } as const;
  expect(await answer(call)).toEqual({ decision: "accept" });
  expect(turn.actions).toMatchObject([{ kind: "fileChange", reason: expect.stringContaining("/var/lib") }]);
});
