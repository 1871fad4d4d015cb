import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { type ProcessSpec, type Sandbox, SYSTEM_CLOCK } from "@flint/core/ports";
import type { SandboxPolicy, ThreadSettings } from "@flint/protocol";
import { temporaryFolder } from "@flint/testkit";
import { expect, test } from "vitest";
import { acpProfile } from "../descriptor.ts";
import { type AgentStart, startProcess } from "./launch.ts";

const WORKSPACE: SandboxPolicy = { type: "workspaceWrite" };
const NONE: SandboxPolicy = { type: "dangerFullAccess" };

/** Returns the environment with which codex-acp is started in a thread of these policies. */
async function startedWith(
  approvalPolicy: ThreadSettings["approvalPolicy"],
  sandboxPolicy: SandboxPolicy,
  offline: Pick<AgentStart["options"], "offlineModel"> = {},
): Promise<ProcessSpec["environment"]> {
  const { path } = await temporaryFolder();
  const started: ProcessSpec[] = [];
  const sandbox: Sandbox = {
    state: async () => ({ available: true, mechanism: "none" }),
    launch: () => Promise.reject(new Error("No command is run.")),
    start: async (spec) => {
      started.push(spec);
      throw new Error("It is enough to know what would be started.");
    },
  };
  const environment = { CODEX_HOME: `${path}/state`, CODEX_CONFIG: '{"model":"m"}' };
  const start: AgentStart = {
    options: {
      ...{ profile: acpProfile("codex-acp", []), clock: SYSTEM_CLOCK },
      ...{ version: "1", sandbox, offlineFolder: async () => path, ...offline },
      program: async () => ({ command: ["codex-acp"], environment }),
    },
    spec: { threadId: "t", sandbox, mcpServers: [] },
    settings: { model: "codex-acp/default", cwd: path, config: {}, approvalPolicy, sandboxPolicy },
    nativeId: undefined,
    handlers: {
      ...{ notification: () => undefined, ready: async () => undefined },
      request: () => Promise.reject(new Error("Nothing is asked.")),
    },
    signal: new AbortController().signal,
  };
  await expect(startProcess(start)).rejects.toThrow("enough to know");
  return started[0]?.environment ?? {};
}

test.each<SandboxPolicy>([WORKSPACE, { type: "readOnly" }])(
  "instructs an agent that asks about Flint's sandbox, with %j",
  async (policy) => {
    const { CODEX_CONFIG, INITIAL_AGENT_MODE } = await startedWith("unlessTrusted", policy);
    expect(JSON.parse(CODEX_CONFIG ?? "")).toMatchObject({
      model: "m",
      developer_instructions: expect.any(String),
    });
    expect(INITIAL_AGENT_MODE).toBe("read-only");
  },
);

test("does not instruct an agent that never asks", async () => {
  const { CODEX_CONFIG, INITIAL_AGENT_MODE } = await startedWith("never", WORKSPACE);
  const features = { shell_snapshot: false, plugins: false };
  expect(JSON.parse(CODEX_CONFIG ?? "")).toEqual({ model: "m", features });
  expect(INITIAL_AGENT_MODE).toBe("agent-full-access");
});

test.each<SandboxPolicy>([NONE, { type: "externalSandbox" }])(
  "does not instruct an agent without Flint's sandbox, with %j",
  async (policy) => {
    expect((await startedWith("always", policy)).CODEX_CONFIG).toBe('{"model":"m"}');
  },
);

test("codex-acp on the offline model starts a Codex that fetches no plugins", async () => {
  const offlineModel = async () => "http://127.0.0.1:1";
  const { CODEX_HOME = "" } = await startedWith("unlessTrusted", WORKSPACE, { offlineModel });
  expect(await readFile(join(CODEX_HOME, "config.toml"), "utf8")).toBe("[features]\nplugins = false\n");
});
