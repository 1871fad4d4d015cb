import { chmod, mkdir, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import type { Driver } from "@flint/core/ports";
import { CommandSandbox } from "@flint/host/sandbox";
import { hostRuleCovers, type SandboxPolicy } from "@flint/protocol";
import { agentFolder, agentProgram, leavesNoProcess, needs, type Part, RecordingTurn } from "@flint/testkit";
import { describe, expect, onTestFinished } from "vitest";
import { acpProfile } from "../acp/descriptor.ts";
import { AcpDriver } from "../acp/driver.ts";
import { ClaudeDriver } from "../claude/driver.ts";
import { CodexDriver } from "../codex/driver.ts";
import { SHORT_LIVED } from "../codex/testing/codex-fixture.ts";
import { NativeDriver } from "../native/driver.ts";
import type { AgentOptions } from "../shared/agent.ts";
import { offlineModel } from "./offline-model.ts";
import { sessionSpec, testSettings, threadSandbox } from "./session-spec.ts";

const ACP = "claude-agent-acp";
const CODEX_ACP = "codex-acp";
const OPENCODE = "opencode";

/** An ACP agent, whose profile goes by its id. */
const acpAgent = (id: string) => (options: AgentOptions) =>
  new AcpDriver({ ...options, profile: acpProfile(id, []) });

/** Every kind of agent, as the real program on the offline model. */
const AGENTS: Readonly<
  Record<string, { readonly parts: readonly [Part, ...Part[]]; make(options: AgentOptions): Driver }>
> = {
  flint: { parts: ["bwrap", "curl"], make: () => new NativeDriver() },
  claude: { parts: ["bwrap", "curl", "claude"], make: (options) => new ClaudeDriver(options) },
  codex: { parts: ["bwrap", "curl", "codex"], make: (options) => new CodexDriver(options, SHORT_LIVED) },
  [ACP]: { parts: ["bwrap", "curl", ACP, "claude"], make: acpAgent(ACP) },
  [CODEX_ACP]: { parts: ["bwrap", "curl", CODEX_ACP, "codex"], make: acpAgent(CODEX_ACP) },
  [OPENCODE]: { parts: ["bwrap", "curl", OPENCODE], make: acpAgent(OPENCODE) },
};

const WRITE: SandboxPolicy = { type: "workspaceWrite" };

/**
 * The expected report of a command under each policy, with any agent. `hosts` are those that the user allows.
 */
const EXPECTED: readonly {
  readonly name: string;
  readonly policy: SandboxPolicy;
  readonly hosts: "none" | "service";
  readonly report: string;
}[] = [
  {
    name: "no network",
    policy: WRITE,
    hosts: "none",
    report: "direct=no proxied=refused inside=yes outside=no",
  },
  {
    ...{ name: "read-only", policy: { type: "readOnly" }, hosts: "none" },
    report: "direct=no proxied=refused inside=no outside=no",
  },
  {
    ...{ name: "one host", policy: WRITE, hosts: "service" },
    report: "direct=no proxied=service inside=yes outside=no",
  },
  {
    ...{ name: "the whole network", policy: { ...WRITE, networkAccess: true }, hosts: "none" },
    report: "direct=service proxied=service inside=yes outside=no",
  },
];

/** Prints what it can do, in one line. The service is on the loopback interface of the user's machine. */
const probe = (port: number, outside: string) => `
proxy=\${http_proxy:-}
direct=$(curl -s -m 5 --noproxy '*' http://127.0.0.1:${port}/ || echo no)
proxied=$(curl -s -m 5 \${proxy:+--noproxy ''} \${proxy:+--proxy "$proxy"} http://localhost:${port}/ || echo no)
case $proxied in *refused*) proxied=refused ;; esac
touch inside 2>/dev/null && inside=yes || inside=no
touch ${outside}/outside 2>/dev/null && outside=yes || outside=no
echo "report: direct=$direct proxied=$proxied inside=$inside outside=$outside"
`;

/** Runs a command with each of these agents under each policy, and checks what it could do. */
export function describeSandboxPolicy(agents: readonly string[]): void {
  describe("the sandbox policy applies to the commands of every agent [A18]", () => {
    for (const [agent, { parts, make }] of Object.entries(AGENTS).filter(([name]) => agents.includes(name))) {
      for (const row of EXPECTED) {
        needs(...parts)(
          `${agent} with ${row.name}`,
          async () => expect(await reportOf(agent, make, row)).toBe(row.report),
          120_000,
        );
      }
    }
  });
}

async function reportOf(
  agent: string,
  make: (options: AgentOptions) => Driver,
  { policy, hosts }: (typeof EXPECTED)[number],
): Promise<string | undefined> {
  leavesNoProcess();
  const { path: folder } = await agentFolder();
  const [cwd, outside, stateFolder] = ["work", "outside", "state"].map((name) => join(folder, name));
  if (cwd === undefined || outside === undefined || stateFolder === undefined) throw new Error("no folders");
  await Promise.all([cwd, outside, stateFolder].map((path) => mkdir(path)));
  const port = await serve();
  await writeFile(join(cwd, "probe.sh"), probe(port, outside));
  await chmod(join(cwd, "probe.sh"), 0o755);
  const allowed = hosts === "service" ? `localhost:${port}` : "other.example";
  const scopeFolder = join(folder, "scopes");
  const commands = new CommandSandbox({ environment: process.env, mechanisms: ["bubblewrap"], scopeFolder });
  onTestFinished(() => commands.closeScope("t"));
  const sandbox = threadSandbox(commands, (connection) => hostRuleCovers(allowed, connection));
  const model = await offlineModel(onTestFinished);
  const claude = agentProgram("claude") ?? "claude";
  const driver = make({
    program: async () => ({
      command: [
        agentProgram(agent === "flint" ? "claude" : (agent as "claude")) ?? agent,
        ...(agent === OPENCODE ? ["acp"] : []),
      ],
      // If IS_SANDBOX is set, the ACP agent uses a mode without permissions, which Claude refuses to root.
      environment: {
        CLAUDE_CONFIG_DIR: join(stateFolder, "claude"),
        CLAUDE_CODE_EXECUTABLE: claude,
        CODEX_PATH: agentProgram("codex") ?? "codex",
        IS_SANDBOX: "",
      },
    }),
    offlineModel: async () => model.url,
    ...{ stateFolder, sandbox, version: "0.0.0" },
  });
  onTestFinished(async () => driver.close?.());
  const name = agent === "flint" ? "flint/offline" : `${agent}/default`;
  const settings = testSettings(name, cwd, { sandboxPolicy: policy });
  const session = await driver.open(sessionSpec(settings, sandbox));
  onTestFinished(() => session.close());
  const turn = new RecordingTurn({ text: "run `sh probe.sh`", settings });
  await session.run(turn).finally(() => turn.end());
  return /report: (.*?)(?:\\n|"|\n)/.exec(JSON.stringify(turn.completedItems))?.[1];
}

/** A service on the loopback interface of this machine. */
async function serve(): Promise<number> {
  const server = createServer((_request, response) => response.end("service"));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close());
  // A server that listens on a port has an address with one.
  return (server.address() as AddressInfo).port;
}
