import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import type { Driver, McpServerConfig, SessionSpec } from "@flint/core/ports";
import { CommandSandbox } from "@flint/host/sandbox";
import { isKnownItem } from "@flint/protocol";
import { agentFolder, agentProgram, leavesNoProcess, needs, type Part, RecordingTurn } from "@flint/testkit";
import { describe, expect, onTestFinished } from "vitest";
import { acpProfile } from "../acp/descriptor.ts";
import { AcpDriver } from "../acp/driver.ts";
import { ClaudeDriver } from "../claude/driver.ts";
import { CodexDriver } from "../codex/driver.ts";
import { SHORT_LIVED } from "../codex/testing/codex-fixture.ts";
import type { AgentOptions } from "../shared/agent.ts";
import { offlineModel } from "./offline-model.ts";
import { sessionSpec, testSettings, threadSandbox } from "./session-spec.ts";
import { visibleScript } from "./visible-script.ts";

interface Agent {
  readonly parts: readonly [Part, ...Part[]];
  readonly arguments?: readonly string[];
  make(options: AgentOptions): Driver;
  /** Steps of the script in which the model calls the tool of the server, and runs a command. */
  readonly look: unknown;
  run(command: string): unknown;
}

const ACP = "claude-agent-acp";
const OPENCODE = "opencode";
const claude = {
  look: [{ call: "mcp__keys__look", input: {} }],
  run: (command: string) => [{ call: "Bash", input: { command } }],
};
const exec = (call: string) => [{ call: "exec", raw: `text(JSON.stringify(await tools.${call}))` }];
const acpAgent = (id: string) => (options: AgentOptions) =>
  new AcpDriver({ ...options, profile: acpProfile(id, []) });

/** Agents that connect to MCP servers themselves, as the real programs on the offline model. */
const AGENTS: Readonly<Record<string, Agent>> = {
  claude: { ...claude, parts: ["bwrap", "claude"], make: (options) => new ClaudeDriver(options) },
  codex: {
    parts: ["bwrap", "codex"],
    make: (options) => new CodexDriver(options, SHORT_LIVED),
    look: exec("mcp__keys__look({})"),
    run: (cmd) => exec(`exec_command(${JSON.stringify({ cmd })})`),
  },
  [ACP]: { ...claude, parts: ["bwrap", ACP, "claude"], make: acpAgent(ACP) },
  [OPENCODE]: {
    ...{ parts: ["bwrap", OPENCODE], arguments: ["acp"], make: acpAgent(OPENCODE) },
    look: [{ call: "keys_look", input: {} }],
    run: (command) => [{ call: "bash", input: { command, description: "Looks for the key" } }],
  },
};

/** Prints in how many environments and command lines of its sandbox the name of the key is. */
const SEARCH =
  "echo found: $(cat /proc/[0-9]*/environ /proc/[0-9]*/cmdline 2>/dev/null | tr '\\0' '\\n' | grep -c '^FIXTURE_KEY=');";

/** Has each of these agents use an MCP server that needs a key, and look for the key. */
export function describeMcpPrograms(agents: readonly string[]): void {
  describe("the program of an MCP server runs in a sandbox of its own", () => {
    for (const [name, agent] of Object.entries(AGENTS).filter(([known]) => agents.includes(known))) {
      const test = needs(...agent.parts);
      test(`${name} uses it, and has none of its variables`, async () => {
        const { items } = await runTurn(name, agent);
        const shown = JSON.stringify(items);
        expect(shown).toContain("report: the key, writes the workspace, reads the rest;");
        expect(shown).toContain("found: 0");
      }, 120_000);
      test(`${name} does not get one whose files have changed since it started`, async () => {
        let checks = 0;
        const mcpProblem = async () => {
          checks += 1;
          return checks === 1 ? undefined : "its files have changed";
        };
        const { items } = await runTurn(name, agent, { mcpProblem });
        expect(checks).toBeGreaterThan(1);
        expect(JSON.stringify(items)).not.toContain("report: the key");
      }, 120_000);
    }
  });
}

/** Runs a turn in which the model calls the tool of the server, and then a command looks for its key. */
async function runTurn(name: string, agent: Agent, more: Partial<SessionSpec> = {}) {
  leavesNoProcess();
  const { path: folder } = await agentFolder();
  const [cwd, outside, stateFolder] = [join(folder, "work"), join(folder, "outside"), join(folder, "state")];
  for (const path of [cwd, outside, stateFolder]) await mkdir(path);
  const model = await offlineModel(onTestFinished, [agent.look, agent.run(SEARCH), [{ text: "Done." }]]);
  const commands = new CommandSandbox({
    ...{ environment: process.env, mechanisms: ["bubblewrap"] },
    ...{ scopeFolder: join(folder, "scopes"), brokerFolder: join(folder, "run") },
  });
  onTestFinished(() => commands.closeScope("t"));
  const sandbox = threadSandbox(commands, () => false);
  const environment = {
    CLAUDE_CONFIG_DIR: join(stateFolder, "claude"),
    CLAUDE_CODE_EXECUTABLE: agentProgram("claude") ?? "claude",
    IS_SANDBOX: "",
  };
  const driver = agent.make({
    program: async () => ({
      command: [agentProgram(name as "claude") ?? name, ...(agent.arguments ?? [])],
      environment,
    }),
    offlineModel: async () => model.url,
    ...{ stateFolder, sandbox, version: "0.0.0" },
  });
  onTestFinished(async () => driver.close?.());
  const server: McpServerConfig = {
    ...{ type: "stdio", name: "keys", command: process.execPath },
    args: [await visibleScript(new URL("key-server.mjs", import.meta.url))],
    env: { FIXTURE_KEY: "for the server alone", FIXTURE_OUTSIDE: join(outside, "file") },
  };
  const settings = testSettings(`${name}/default`, cwd, { approvalPolicy: "unlessTrusted" });
  const session = await driver.open(sessionSpec(settings, sandbox, { mcpServers: [server], ...more }));
  onTestFinished(() => session.close());
  const turn = new RecordingTurn({ text: "go", settings });
  await session.run(turn).finally(() => turn.end());
  return { items: turn.completedItems.filter(isKnownItem) };
}
