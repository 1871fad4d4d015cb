import type { ThreadSettings } from "@flint/protocol";
import { describe, expect, test } from "vitest";
import { rejectBeyondLocks, type SettingsLocks } from "./settings-locks.ts";

const SETTINGS: ThreadSettings = {
  ...{ model: "flint/offline", cwd: "/w", config: {}, approvalPolicy: "unlessTrusted" },
  sandboxPolicy: { type: "workspaceWrite" },
};

const check = (settings: Partial<ThreadSettings>, locks: Omit<SettingsLocks, "source">) => () =>
  rejectBeyondLocks({ ...SETTINGS, ...settings }, { source: "/etc/flint/config.toml", ...locks });

describe("a locked setting", () => {
  test.each<[string, Partial<ThreadSettings>, Omit<SettingsLocks, "source">, RegExp]>([
    ["approvals", { approvalPolicy: "never" }, { approvalPolicy: "unlessTrusted" }, /approvalPolicy: never/],
    ["edits", { acceptEdits: true, approvalPolicy: "always" }, { approvalPolicy: "always" }, /acceptEdits/],
    [
      "the sandbox",
      { sandboxPolicy: { type: "dangerFullAccess" } },
      { sandboxPolicy: { type: "workspaceWrite" } },
      /sandbox: dangerFullAccess is not allowed.*workspaceWrite/,
    ],
    [
      "the network of the sandbox",
      { sandboxPolicy: { type: "workspaceWrite", networkAccess: true } },
      { sandboxPolicy: { type: "workspaceWrite" } },
      /network access/,
    ],
    [
      "writable folders",
      { sandboxPolicy: { type: "workspaceWrite", writableRoots: ["/srv", "/opt"] } },
      { sandboxPolicy: { type: "workspaceWrite", writableRoots: ["/srv"] } },
      /writing to \/opt/,
    ],
    ["hosts", { network: { hosts: ["a.example", "b.example"] } }, { hosts: ["a.example"] }, /b\.example/],
    ["all hosts", { network: "all" }, { hosts: ["a.example"] }, /network: all/],
    ["commits", { git: "auto" }, { git: "ask" }, /git: auto/],
    ["the agent", {}, { agent: "claude" }, /agent: flint/],
    ["the model", {}, { model: "flint/ollama/qwen3" }, /model: flint\/offline/],
    ["a limit", { budget: { turn: { costUsd: 5 } } }, { budget: { turn: { costUsd: 1 } } }, /at most 1/],
    [
      "approvals, by letting commands pass",
      { acceptCommands: true },
      { approvalPolicy: "unlessTrusted" },
      /acceptCommands: true/,
    ],
    [
      "hosts, by opening the network of the sandbox",
      { sandboxPolicy: { type: "workspaceWrite", networkAccess: true } },
      { hosts: [] },
      /network: all is not allowed.*no host/,
    ],
    [
      "hosts, by leaving the sandbox",
      { sandboxPolicy: { type: "dangerFullAccess" }, network: "none" },
      { hosts: [] },
      /network: all, which the sandbox dangerFullAccess allows/,
    ],
    [
      "a limit, by not keeping it",
      { budget: { enforcement: "bestEffort", turn: { costUsd: 1 } } },
      { budget: { turn: { costUsd: 1 } } },
      /budget\.enforcement: bestEffort/,
    ],
    [
      "a limit, by extending it",
      { budget: { thread: { tokens: 9 }, extended: { tokens: 10 } } },
      { budget: { thread: { tokens: 9 } } },
      /budget\.thread\.tokens: its extension to 10/,
    ],
    [
      "a limit that is left out",
      {},
      { budget: { thread: { tokens: 9 } } },
      /budget\.thread\.tokens: no limit/,
    ],
  ])("rejects settings beyond %s, and names who locked it", (_name, settings, locks, message) => {
    expect(check(settings, locks)).toThrow(message);
    expect(check(settings, locks)).toThrow("(/etc/flint/config.toml)");
  });

  test.each<[string, Partial<ThreadSettings>, Omit<SettingsLocks, "source">]>([
    ["approvals", { approvalPolicy: "always" }, { approvalPolicy: "unlessTrusted" }],
    ["the sandbox", { sandboxPolicy: { type: "readOnly" } }, { sandboxPolicy: { type: "workspaceWrite" } }],
    ["hosts", { network: "none" }, { hosts: ["a.example"] }],
    ["commits", { git: "off" }, { git: "ask" }],
    ["limits", { budget: { turn: { tokens: 5 } } }, { budget: { turn: { tokens: 10 } } }],
    ["commands that pass", { acceptCommands: true }, { approvalPolicy: "onRequest" }],
    [
      "hosts in an open sandbox that is locked too",
      { sandboxPolicy: { type: "externalSandbox" } },
      { hosts: [], sandboxPolicy: { type: "externalSandbox" } },
    ],
    [
      "limits that Flint counts itself",
      { budget: { enforcement: "bestEffort", turn: { seconds: 5 } } },
      { budget: { turn: { seconds: 5 } } },
    ],
    [
      "limits that the administrator does not insist on",
      { budget: { enforcement: "bestEffort", turn: { tokens: 5 } } },
      { budget: { enforcement: "bestEffort", turn: { tokens: 5 } } },
    ],
    ["nothing", {}, {}],
  ])("accepts stricter settings of %s", (_name, settings, locks) => {
    expect(check(settings, locks)).not.toThrow();
  });
});
