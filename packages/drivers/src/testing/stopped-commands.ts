import { existsSync } from "node:fs";
import { mkdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { type Driver, SYSTEM_CLOCK } from "@flint/core/ports";
import { CommandSandbox } from "@flint/host/sandbox";
import { type Action, type Decision, isKnownItem } from "@flint/protocol";
import { agentFolder, agentProgram, leavesNoProcess, needs, type Part, testEngine } from "@flint/testkit";
import { describe, expect, onTestFinished } from "vitest";
import { acpProfile } from "../acp/descriptor.ts";
import { AcpDriver } from "../acp/driver.ts";
import { ClaudeDriver } from "../claude/driver.ts";
import { CodexDriver } from "../codex/driver.ts";
import { SHORT_LIVED } from "../codex/testing/codex-fixture.ts";
import type { AgentOptions } from "../shared/agent.ts";
import { offlineModel } from "./offline-model.ts";

interface Agent {
  readonly parts: readonly [Part, ...Part[]];
  /** True if a command can be run again with what it needs. */
  readonly grants: boolean;
  /** True if it continues without the answer of the user, and may have ended its work by then. */
  readonly continues?: boolean;
  make(options: AgentOptions): Driver;
  /** A step of the script in which the model runs a command. */
  run(command: string): unknown;
}

const ACP = "claude-agent-acp";
const bash = (command: string) => [{ call: "Bash", input: { command } }];

/** Agents that run their commands themselves, as the real programs on the offline model. */
const AGENTS: Readonly<Record<string, Agent>> = {
  claude: {
    ...{ parts: ["bwrap", "claude"], grants: true, run: bash },
    make: (options) => new ClaudeDriver(options),
  },
  codex: {
    ...{ parts: ["bwrap", "codex"], grants: true, continues: true },
    make: (options) => new CodexDriver(options, SHORT_LIVED),
    run: (cmd) => [
      { call: "exec", raw: `text(JSON.stringify(await tools.exec_command(${JSON.stringify({ cmd })})))` },
    ],
  },
  [ACP]: {
    ...{ parts: ["bwrap", ACP, "claude"], grants: false, run: bash },
    make: (options) => new AcpDriver({ ...options, profile: acpProfile(ACP, []) }),
  },
};

const ALLOW: Decision = { outcome: "allow", scope: "once" };
const DECLINE: Decision = { outcome: "deny", scope: "once" };
const DONE = [{ text: "Done." }];

/** Has each of these agents run a command that the sandbox stops, and checks what is said and offered. */
export function describeStoppedCommands(agents: readonly string[]): void {
  describe("a command that the sandbox stopped", () => {
    for (const [name, agent] of Object.entries(AGENTS).filter(([known]) => agents.includes(known))) {
      const test = needs(...agent.parts);
      test(`of ${name} says so on its item and to the model`, async () => {
        const { command, items, asked, model, outside } = await runTurn(name, agent, false);
        const evidence = `The sandbox does not let commands write ${join(outside, "count")}.`;
        expect(items).toMatchObject([{ command, denials: [evidence] }]);
        if (agent.grants) expect(JSON.stringify(model.requests.at(-1)?.body)).toContain(evidence);
        expect(asked.map(({ after }) => after !== undefined)).toEqual(agent.grants ? [false, true] : [false]);
        expect(existsSync(join(outside, "count"))).toBe(false);
      }, 120_000);
      if (!agent.grants) continue;
      test(`of ${name} runs again once with what the user allows it`, async () => {
        const { command, items, asked, outside } = await runTurn(name, agent, true);
        expect(asked).toMatchObject([
          { command },
          { command, needs: { write: [outside] }, reason: expect.stringContaining("It already ran for") },
        ]);
        expect(items).toMatchObject([
          { command, exitCode: 1 },
          { command, exitCode: 0 },
        ]);
        expect(await readFile(join(outside, "count"), "utf8")).toBe("run\n");
      }, 120_000);
    }
  });
}

/** Runs a turn with a command that the sandbox stops. If it may run again, the model runs it again. */
async function runTurn(name: string, agent: Agent, isAllowed: boolean) {
  leavesNoProcess();
  const { path: folder } = await agentFolder();
  const [cwd, outside, stateFolder] = [join(folder, "work"), join(folder, "outside"), join(folder, "state")];
  for (const path of [cwd, outside, stateFolder]) await mkdir(path);
  const command = "echo run >> ../outside/count";
  const before = agent.continues === true && isAllowed ? [agent.run(command), DONE] : [agent.run(command)];
  const after = isAllowed ? [agent.run(command), DONE] : [DONE];
  const model = await offlineModel(onTestFinished, [...before, ...after, DONE, DONE]);
  const sandbox = new CommandSandbox({
    ...{ environment: process.env, mechanisms: ["bubblewrap"] },
    ...{ scopeFolder: join(folder, "scopes"), brokerFolder: join(folder, "run") },
  });
  const environment = {
    CLAUDE_CONFIG_DIR: join(stateFolder, "claude"),
    CLAUDE_CODE_EXECUTABLE: agentProgram("claude") ?? "claude",
    IS_SANDBOX: "",
  };
  const driver = agent.make({
    program: async () => ({ command: [agentProgram(name as "claude") ?? name], environment }),
    offlineModel: async () => model.url,
    ...{ stateFolder, sandbox, version: "0.0.0" },
  });
  onTestFinished(async () => driver.close?.());
  const engine = testEngine({
    ...{ cwd, sandbox, clock: SYSTEM_CLOCK, otherDrivers: [driver], model: `${name}/default` },
    approvalPolicy: "unlessTrusted",
  });
  const client = engine.connect();
  const threadId = await client.startThread();
  const asked: Action[] = [];
  const turnId = await client.startTurn(threadId, "go");
  const ended = client.turnEnd(turnId);
  void answerAll();
  await ended;
  const items = client
    .eventsOf("item/completed")
    .map(({ data }) => data.item)
    .filter((item) => isKnownItem(item) && item.type === "commandExecution");
  return { command, items, asked, model, outside };

  async function answerAll(): Promise<void> {
    for (;;) {
      const place = asked.length;
      await client.waitFor("approval/requested", () => client.eventsOf("approval/requested").length > place);
      const approval = client.eventsOf("approval/requested")[place]?.data.approval;
      if (approval === undefined) return;
      asked.push(approval.action);
      const isOffer = approval.action.after !== undefined;
      if (isOffer && isAllowed && agent.continues === true)
        await client.waitFor("item/completed", ({ data }) => data.item.type === "agentMessage");
      await client.call("approval/respond", {
        ...{ threadId, approvalId: approval.id },
        decision: !isOffer || isAllowed ? ALLOW : DECLINE,
      });
    }
  }
}
