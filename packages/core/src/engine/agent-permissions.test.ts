import type { AgentPermissions } from "@flint/core";
import type { ParamsInput, ThreadSettings } from "@flint/protocol";
import { ScriptedDriver, type TestClient, type TestEngineOptions, testEngine } from "@flint/testkit";
import { describe, expect, test } from "vitest";

/** A client of a server with the agents `home` and `work`, and the permissions of `work`. */
function connected(work: AgentPermissions, options: TestEngineOptions = {}) {
  const driver = new ScriptedDriver({ id: "home" });
  const otherDrivers = [new ScriptedDriver({ id: "work" })];
  const agentPermissions = new Map([["work", work]]);
  return testEngine({ driver, otherDrivers, agentPermissions, ...options }).connect();
}

/** The settings of a new thread. */
async function settingsOf(client: TestClient, params: ParamsInput<"thread/start">) {
  const { thread } = await client.call("thread/start", params);
  return (await client.call("thread/settings/update", { threadId: thread.id })).settings;
}

const READ_ONLY = { sandboxPolicy: { type: "readOnly" } } as const;
const WIDE = {
  ...{ approvalPolicy: "never", git: "auto", acceptEdits: true, network: { hosts: ["a.example"] } },
} as const satisfies AgentPermissions;

describe("an agent with permissions of its own", () => {
  test("has them in new threads, and other agents do not", async () => {
    const client = connected({ ...WIDE, ...READ_ONLY });
    const work = await settingsOf(client, { agent: "work" });
    expect(work).toMatchObject({ ...WIDE, ...READ_ONLY });
    const home = await settingsOf(client, {});
    expect(home).toMatchObject({
      approvalPolicy: "unlessTrusted",
      sandboxPolicy: { type: "workspaceWrite" },
    });
    expect(home).not.toHaveProperty("git");
  });

  test("has them when it is the default agent, and when a model names it", async () => {
    const byDefault = connected(READ_ONLY, { model: "work" });
    expect(await settingsOf(byDefault, {})).toMatchObject(READ_ONLY);
    const named = connected(READ_ONLY);
    expect(await settingsOf(named, { model: "work" })).toMatchObject(READ_ONLY);
  });

  test("gives way to what the client asks for", async () => {
    const client = connected(READ_ONLY);
    const sandbox = { type: "workspaceWrite" } as const;
    const settings = await settingsOf(client, { agent: "work", sandbox });
    expect(settings.sandboxPolicy).toEqual(sandbox);
  });

  test("cannot have more than the administrator allows", async () => {
    const locks = { source: "/etc/flint/config.toml", approvalPolicy: "unlessTrusted" } as const;
    const client = connected({ approvalPolicy: "never" }, { locks });
    await expect(client.call("thread/start", { agent: "work" })).rejects.toThrow(
      "approvalPolicy: never is not allowed. The administrator of this machine locked it to unlessTrusted",
    );
  });

  test("cannot turn off approvals and the sandbox together on its own", async () => {
    const client = connected({ approvalPolicy: "never", sandboxPolicy: { type: "dangerFullAccess" } });
    await expect(client.call("thread/start", { agent: "work" })).rejects.toThrow("--allow-unconfined");
  });
});

describe("a thread that such an agent continues", () => {
  async function continued(work: AgentPermissions, before: Partial<ThreadSettings>) {
    const client = connected(work);
    const { sandboxPolicy: sandbox, approvalPolicy, network, git, acceptEdits } = before;
    const { thread } = await client.call("thread/start", {
      ...{ sandbox, approvalPolicy, network, git, acceptEdits },
    });
    return (await client.call("thread/settings/update", { threadId: thread.id, agent: "work" })).settings;
  }

  test("is not allowed more than before", async () => {
    const settings = await continued(WIDE, { ...READ_ONLY, approvalPolicy: "always" });
    expect(settings).toMatchObject({ ...READ_ONLY, approvalPolicy: "always" });
    for (const name of ["git", "acceptEdits", "network"]) expect(settings).not.toHaveProperty(name);
  });

  test("is allowed less where the agent is", async () => {
    const narrow: AgentPermissions = {
      ...{ approvalPolicy: "always", ...READ_ONLY, git: "off", acceptEdits: false },
      network: { hosts: ["b.example", "c.example"] },
    };
    const settings = await continued(narrow, { ...WIDE, network: { hosts: ["a.example", "b.example"] } });
    expect(settings).toMatchObject({ ...narrow, network: { hosts: ["b.example"] } });
  });
});
