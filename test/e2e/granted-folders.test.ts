import { existsSync } from "node:fs";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { RequestPermissionRequest } from "@agentclientprotocol/sdk";
import { agentFolder, agentProgram, leavesNoProcess, needs, WireClient } from "@flint/testkit";
import { expect, onTestFinished } from "vitest";
import { plainEnvironment } from "../server/plain-environment.ts";
import { promptOf, startEditor } from "./clients/acp-editor.ts";
import { DONE, SCRIPTED_AGENTS } from "./scripted-agents.ts";
import { FLINT, initialize, startThread } from "./server.ts";
import { Pty } from "./terminal/exec-pty.ts";

/** Real agents are started twice, on a machine that may be busy. */
const TEST_MS = 120_000;
const TURN_MS = 60_000;

for (const { agent, program, write } of SCRIPTED_AGENTS) {
  const parts = program === undefined ? [] : [program];

  needs("bwrap", ...parts)(
    `a Codex client lets ${agent} write a folder for the session, and the change is made in the same turn`,
    async () => {
      const { folder, workspace, outside, env } = await fixture(agent, write);
      const flags = ["serve", "--stdio", "--protocol", "codex", "--offline", "--agent", agent];
      const command = [process.execPath, FLINT, ...flags];
      const wire = WireClient.spawn(command, { cwd: workspace, env, header: false });
      onTestFinished(async () => {
        wire.kill("SIGTERM");
        await wire.exited;
      });
      await initialize(wire);
      const threadId = await startThread(wire, { cwd: workspace, model: agent });
      const file = join(outside, "lantern.txt");
      await wire.request("turn/start", { threadId, input: [{ type: "text", text: "go" }] });
      const asked = await wire.waitForMethod("item/fileChange/requestApproval", { withinMs: TURN_MS });
      expect(asked.params).toMatchObject({ reason: expect.stringContaining(outside) });
      expect(existsSync(file)).toBe(false);
      wire.answer(asked.id, { decision: "acceptForSession" });
      await wire.waitForMethod("turn/completed", { withinMs: TURN_MS });

      expect(await readFile(file, "utf8")).toBe("lantern\n");
      const methods = wire.messages.map(({ method }) => method);
      expect(methods.filter((method) => method === "item/fileChange/requestApproval")).toHaveLength(1);
      const changes = wire.messages
        .filter(({ method }) => method === "item/completed")
        .map(({ params }) => Object(params).item)
        .filter(({ type }) => type === "fileChange");
      const made = program === undefined ? ["completed"] : ["declined", "completed"];
      expect(changes.map(({ status }) => status)).toEqual(made);
      expect(new Set(changes.map(({ id }) => id)).size).toBe(made.length);
      expect(existsSync(join(folder, "elsewhere.txt"))).toBe(false);
    },
    TEST_MS,
  );

  needs("bwrap", ...parts)(
    `s in flint exec lets ${agent} write a folder in the thread, and the change is made`,
    async () => {
      const { folder, outside, env } = await fixture(agent, write);
      const pty = await Pty.start(["exec", "--offline", "--agent", agent, "go"], { folder, env });
      await pty.waitFor("[s]");
      expect(pty.screen.text.replace(/\s+/g, "")).toContain(outside);
      pty.type("s");
      expect(await pty.exitCode(), pty.screen.text).toBe(0);
      expect(await readFile(join(outside, "lantern.txt"), "utf8")).toBe("lantern\n");
    },
    TEST_MS,
  );

  needs("bwrap", ...parts)(
    `an editor lets ${agent} write a folder in the session, in the words of what that allows`,
    async () => {
      const { workspace, outside, env } = await fixture(agent, write);
      const offered: string[] = [];
      const choose = async ({ options }: RequestPermissionRequest) => {
        offered.push(...options.map(({ name }) => name));
        return "allow_always";
      };
      const flags = ["--agent", agent];
      const editor = await startEditor({ cwd: workspace, env, flags, choose });
      const { sessionId } = await editor.agent.request("session/new", { cwd: workspace, mcpServers: [] });
      await editor.agent.request("session/prompt", promptOf(sessionId, "go"));
      expect(offered).toContain(`Allow the agent to write ${outside}, from any command, in this session`);
      expect(await readFile(join(outside, "lantern.txt"), "utf8")).toBe("lantern\n");
    },
    TEST_MS,
  );
}

/** A folder beside the workspace, and an agent whose model wants to write there as often as it is asked to. */
async function fixture(agent: string, write: (name: string, line: string) => readonly object[]) {
  leavesNoProcess();
  const { path: folder } = await agentFolder();
  const [workspace, outside, home] = ["workspace", "outside", "home"].map((name) => join(folder, name)) as [
    string,
    string,
    string,
  ];
  await Promise.all([workspace, outside, home].map((path) => mkdir(path)));
  const [program] = SCRIPTED_AGENTS.flatMap((each) => (each.agent === agent ? (each.program ?? []) : []));
  const command = program === undefined ? undefined : [agentProgram(program) ?? program];
  const configuration =
    command === undefined ? "" : `[agents.${agent}]\ncommand = ${JSON.stringify(command)}\n`;
  await writeFile(join(home, "config.toml"), configuration);
  const script = join(folder, "script.json");
  const call = write(join(outside, "lantern.txt"), "lantern");
  await writeFile(script, JSON.stringify({ steps: [call, DONE, call, DONE].map((parts) => ({ parts })) }));
  const env = { ...plainEnvironment(home), HOME: home, FLINT_OFFLINE_SCRIPT: script };
  return { folder, workspace, outside, home, env };
}
