import { existsSync } from "node:fs";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import {
  agentFolder,
  agentProgram,
  leavesNoProcess,
  needs,
  type RealAgent,
  WireClient,
} from "@flint/testkit";
import { expect, onTestFinished } from "vitest";
import { plainEnvironment } from "../server/plain-environment.ts";
import { DONE } from "./scripted-agents.ts";
import { FLINT, initialize, startThread } from "./server.ts";

/** Real agents are started, on a machine that may be busy. */
const TEST_MS = 150_000;
const TURN_MS = 60_000;

const PATCH = "*** Begin Patch\n*** Add File: late.txt\n+late\n*** End Patch";

/** The call of an agent's model, and the arguments of the agent's program. */
interface Late {
  readonly agent: RealAgent;
  readonly does: string;
  readonly more: readonly string[];
  call(folder: string): object;
}

const AGENTS: readonly Late[] = [
  {
    ...{ agent: "claude", does: "changes a file", more: [] },
    call: (folder: string) => ({
      call: "Write",
      input: { file_path: `${folder}/late.txt`, content: "late\n" },
    }),
  },
  {
    ...{ agent: "codex", does: "changes a file", more: [] },
    call: () => ({
      call: "exec",
      raw: `text(JSON.stringify(await tools.apply_patch(${JSON.stringify(PATCH)})))`,
    }),
  },
  {
    ...{ agent: "opencode", does: "runs a command", more: ["acp"] },
    call: () => ({ call: "bash", input: { command: "echo late > late.txt", description: "Writes a file" } }),
  },
];

for (const { agent, does, more, call } of AGENTS) {
  needs("bwrap", agent)(
    `an answer to ${agent} that comes after the turn lets it do that once: it ${does}`,
    async () => {
      const { wire, workspace } = await serve(agent, [agentProgram(agent) ?? agent, ...more], call);
      const threadId = await startThread(wire, { cwd: workspace, model: agent });
      const file = join(workspace, "late.txt");
      const asked = () => wire.messages.filter(({ method }) => /requestApproval$/.test(String(method)));
      const turn = async (text: string) => {
        const after = wire.mark;
        await wire.request("turn/start", { threadId, input: [{ type: "text", text }] });
        await wire.waitForMethod("turn/completed", { after, withinMs: TURN_MS });
      };

      await turn("first");
      expect(existsSync(file)).toBe(false);
      const [first] = asked();
      wire.answer(first?.id, { decision: "accept" });
      await wire.waitForMethod("grant/changed");

      await turn("second");
      expect(await readFile(file, "utf8")).toBe("late\n");
      expect(asked()).toHaveLength(1);
    },
    TEST_MS,
  );
}

/** A server whose approvals wait a second, with an agent whose model calls for the same in two turns. */
async function serve(agent: string, command: readonly string[], call: (folder: string) => object) {
  leavesNoProcess();
  const { path: folder } = await agentFolder();
  const [workspace, home] = [join(folder, "workspace"), join(folder, "home")];
  await Promise.all([mkdir(workspace), mkdir(home)]);
  await writeFile(join(home, "config.toml"), `[agents.${agent}]\ncommand = ${JSON.stringify(command)}\n`);
  const script = join(folder, "script.json");
  const steps = ["first", "second"].flatMap((when) =>
    [[call(workspace)], DONE].map((parts) => ({ when, parts })),
  );
  await writeFile(script, JSON.stringify({ steps }));
  const flags = [
    "serve",
    "--stdio",
    "--offline",
    "--agent",
    agent,
    "--approval-timeout",
    "1",
    "--network",
    "none",
  ];
  const env = { ...plainEnvironment(home), HOME: home, FLINT_OFFLINE_SCRIPT: script };
  const wire = WireClient.spawn([process.execPath, FLINT, ...flags], { cwd: workspace, env, header: false });
  onTestFinished(async () => {
    wire.kill("SIGTERM");
    await wire.exited;
  });
  await initialize(wire);
  return { wire, workspace };
}
