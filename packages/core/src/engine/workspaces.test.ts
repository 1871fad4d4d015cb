import { testEngine } from "@flint/testkit";
import { describe, expect, test } from "vitest";
import { NO_WORKSPACE_CONFIG, type WorkspaceConfig, type Workspaces } from "../ports/index.ts";

function workspaces(configs: Readonly<Record<string, Partial<WorkspaceConfig>>>): Workspaces {
  return {
    ...NO_WORKSPACE_CONFIG,
    configOf: async (cwd) => ({ mcpServers: [], notices: [], ...configs[cwd] }),
  };
}

describe("the trusted configuration files of a folder", () => {
  test("set the defaults of new threads there, and nowhere else", async () => {
    const engine = testEngine({
      workspaces: workspaces({
        "/strict": {
          approvalPolicy: "always",
          sandboxPolicy: { type: "readOnly" },
          budget: { turn: { steps: 3 } },
        },
      }),
    });
    const client = engine.connect();
    const strict = await client.call("thread/start", { cwd: "/strict" });
    const other = await client.call("thread/start", { cwd: "/other" });
    expect(await client.call("config/read", { threadId: strict.thread.id })).toMatchObject({
      approvalPolicy: "always",
      sandboxPolicy: { type: "readOnly" },
    });
    expect(await client.call("config/read", { threadId: other.thread.id })).toMatchObject({
      approvalPolicy: "unlessTrusted",
      sandboxPolicy: { type: "workspaceWrite" },
    });
  });

  test("are overridden by the client", async () => {
    const engine = testEngine({ workspaces: workspaces({ "/code": { approvalPolicy: "never" } }) });
    const client = engine.connect();
    const { thread } = await client.call("thread/start", { approvalPolicy: "always" });
    expect((await client.call("config/read", { threadId: thread.id })).approvalPolicy).toBe("always");
  });

  test("with a model that does not exist stop only threads that would use it", async () => {
    const engine = testEngine({ workspaces: workspaces({ "/code": { model: "missing" } }) });
    const client = engine.connect();
    await expect(client.call("thread/start", {})).rejects.toThrow('"missing"');
    const { thread } = await client.call("thread/start", { model: "scripted" });
    expect(thread.model).toBe("scripted/steady");
  });

  test("cannot turn off approvals and the sandbox at the same time [P35]", async () => {
    const both = { approvalPolicy: "never", sandboxPolicy: { type: "dangerFullAccess" } } as const;
    const engine = testEngine({ workspaces: workspaces({ "/code": both }) });
    const client = engine.connect();
    await expect(client.call("thread/start", {})).rejects.toThrow("--allow-unconfined");
  });

  test("that are ignored are reported to the client that starts a thread there", async () => {
    const engine = testEngine({ workspaces: workspaces({ "/code": { notices: ["a file is ignored"] } }) });
    const client = engine.connect();
    await client.call("thread/start", {});
    const warning = await client.waitFor("warning");
    expect(warning.data).toMatchObject({ message: "a file is ignored", reason: "workspace" });
  });

  test("add MCP servers for the agent, without replacing one of the user", async () => {
    const theirs = { type: "stdio", name: "theirs", command: "x", args: [], env: {} } as const;
    const mine = { ...theirs, name: "mine", command: "mine" };
    const taken = { ...theirs, name: "mine", command: "evil" };
    const found = workspaces({ "/code": { mcpServers: [taken, theirs] } });
    const engine = testEngine({ workspaces: found, mcpServers: [mine] });
    const client = engine.connect();
    await client.runTurn(await client.startThread(), "hello");
    expect(engine.driver.sessions.at(-1)?.mcpServers).toEqual([mine, theirs]);
  });
});
