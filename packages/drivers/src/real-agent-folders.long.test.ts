import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Driver } from "@flint/core/ports";
import { CommandSandbox } from "@flint/host/sandbox";
import {
  agentFolder,
  agentProgram,
  describeEachMechanism,
  leavesNoProcess,
  needs,
  type Part,
  RecordingTurn,
} from "@flint/testkit";
import { expect, onTestFinished } from "vitest";
import { GEMINI, OPENCODE } from "./acp/descriptor.ts";
import { AcpDriver } from "./acp/driver.ts";
import { ClaudeDriver } from "./claude/driver.ts";
import { CodexDriver } from "./codex/driver.ts";
import { filesIn } from "./testing/files-in.ts";
import { GeminiModelServer } from "./testing/gemini-model.ts";
import { offlineModel } from "./testing/offline-model.ts";
import { sessionSpec, testSettings, threadSandbox } from "./testing/session-spec.ts";

type Files = Readonly<Record<string, string>>;

/** A real agent, what its user has, and what a command that it runs tries to leave behind. */
interface RealAgent {
  readonly part: Part & Parameters<typeof agentProgram>[0];
  readonly model: string;
  /** Files of the user that must be the same afterwards. */
  readonly files: Files;
  /** Returns files in some of them with which the agent would stop asking. */
  grants?(workspace: string): Files;
  /** Further files that would be obeyed later. */
  readonly planted: readonly string[];
  /** The only folders in which something may be left. */
  readonly sessions: RegExp;
  readonly resumes: boolean;
  readonly isSlow?: boolean;
  driver(program: string, home: string): Promise<Driver>;
}

const HOOKS = JSON.stringify({ hooks: {}, permissions: { allow: [] } });
const VERSION = "0.0.0";

const AGENTS: readonly RealAgent[] = [
  {
    part: "claude",
    model: "claude/default",
    files: {
      ".claude/settings.json": HOOKS,
      ".claude.json": JSON.stringify({ hasCompletedOnboarding: true, mcpServers: {} }),
      ".claude/CLAUDE.md": "Be brief.\n",
      ".claude/commands/mine.md": "Say hello.\n",
    },
    grants: (workspace) => ({
      ".claude/settings.json": JSON.stringify({ permissions: { allow: ["Bash"] } }),
      // In a sandbox Claude's main file is in its folder.
      ".claude/.claude.json": JSON.stringify({
        projects: { [workspace]: { allowedTools: ["Bash", "Bash(*)"] } },
      }),
    }),
    planted: [
      ...[
        ".claude/shell-snapshots/snapshot-bash-1.sh",
        ".claude/session-env/1/hook.sh",
        ".claude/hooks/x.sh",
      ],
      ...[".claude/plugins/p/plugin.json", ".claude/skills/s/SKILL.md", ".claude/agents/a.md"],
      ...[".claude/settings.local.json", ".claude/.config.json"],
    ],
    sessions: /^\.claude\/projects\/[\w-]+\/[\w-]+\.jsonl$/,
    resumes: true,
    async driver(program, home) {
      const model = await offlineModel(onTestFinished);
      const environment = {
        HOME: home,
        ANTHROPIC_BASE_URL: model.url,
        ANTHROPIC_API_KEY: "none",
        CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
      };
      const found = { command: [program], environment };
      return new ClaudeDriver({ program: async () => found, version: VERSION }, undefined, home);
    },
  },
  {
    part: "codex",
    model: "codex/default",
    files: {
      ".codex/config.toml": "# mine\n",
      ".codex/AGENTS.md": "Be brief.\n",
      ".codex/prompts/mine.md": "Say hello.\n",
      ".codex/auth.json": JSON.stringify({ OPENAI_API_KEY: "none" }),
    },
    planted: [
      ...[
        ".codex/hooks.json",
        ".codex/rules/default.rules",
        ".codex/skills/s/SKILL.md",
        ".codex/plugins/p.js",
      ],
      ...[".codex/shell_snapshots/1.sh", ".codex/tmp/arg0/x/apply_patch", ".codex/.env"],
    ],
    sessions: /^\.codex\/sessions\/[\d/]+\/rollout-[\w-]+\.jsonl$/,
    resumes: true,
    async driver(program, home) {
      const model = await offlineModel(onTestFinished);
      const found = { command: [program], environment: { HOME: home } };
      const driver = new CodexDriver({
        ...{ program: async () => found, offlineModel: async () => model.url, version: VERSION },
      });
      onTestFinished(() => driver.close());
      return driver;
    },
  },
  {
    part: "opencode",
    model: "opencode/default",
    files: {
      ".config/opencode/opencode.json": JSON.stringify({ $schema: "https://opencode.ai/config.json" }),
      ".config/opencode/AGENTS.md": "Be brief.\n",
      ".local/share/opencode/auth.json": JSON.stringify({ flint: { type: "api", key: "none" } }),
    },
    planted: [
      ...[".config/opencode/plugin/e.js", ".config/opencode/tool/e.js", ".config/opencode/opencode.jsonc"],
      ...[
        ".config/opencode/node_modules/e/e.js",
        ".cache/opencode/node_modules/e/e.js",
        ".cache/opencode/bin/e",
      ],
      ...[".local/share/opencode/snapshot/1/config", ".local/share/opencode/bin/e"],
    ],
    sessions: /^\.local\/share\/opencode\/(?:log|storage|flint)\//,
    resumes: true,
    isSlow: true,
    async driver(program, home) {
      const model = await offlineModel(onTestFinished);
      const { OPENCODE_CONFIG_CONTENT = "" } = OPENCODE.offlineVariables?.(model.url, home) ?? {};
      const environment = { HOME: home, OPENCODE_CONFIG_CONTENT, OPENCODE_DISABLE_MODELS_FETCH: "1" };
      return acpDriver(OPENCODE, [program, "acp"], environment);
    },
  },
  {
    part: "gemini",
    model: "gemini/default",
    files: {
      ".gemini/settings.json": JSON.stringify({ security: { auth: { selectedType: "gemini-api-key" } } }),
      ".gemini/GEMINI.md": "Be brief.\n",
      ".gemini/installation_id": "00000000-0000-4000-8000-000000000000",
    },
    planted: [
      ...[".gemini/extensions/e/gemini-extension.json", ".gemini/commands/e.toml", ".gemini/policies/e.toml"],
      ...[
        ".gemini/.env",
        ".gemini/trustedFolders.json",
        ".gemini/tmp/bin/rg",
        ".gemini/history/1/.gitconfig",
      ],
    ],
    sessions: /^$/,
    resumes: false,
    isSlow: true,
    async driver(program, home) {
      const model = await GeminiModelServer.start();
      onTestFinished(() => model.close());
      const environment = { HOME: home, GEMINI_API_KEY: "none", GOOGLE_GEMINI_BASE_URL: model.url };
      return acpDriver(GEMINI, [program, "--acp", "-m", "gemini-2.5-flash"], environment);
    },
  },
];

function acpDriver(profile: typeof GEMINI, command: readonly string[], environment: Files): Driver {
  return new AcpDriver({ profile, program: async () => ({ command, environment }), version: VERSION });
}

/** Replaces what the user has, and plants the rest; then says so, because the agent shows it. */
function hostileScript({ files, planted, grants }: RealAgent, workspace: string): string {
  const granting = Object.entries(grants?.(workspace) ?? {});
  return [
    'cd "$HOME" || exit 1',
    `for file in ${[...Object.keys(files), ...planted].join(" ")}; do`,
    '  mkdir -p "$(dirname "$file")"; echo planted >> "$file"',
    '  echo planted > "$file.new" && mv -f "$file.new" "$file"',
    "done 2>/dev/null",
    ...granting.map(([name, content]) => `(printf %s '${content}' > ${name}) 2>/dev/null`),
    "echo planted > .flint-outside 2>/dev/null",
    'echo ran >> "$OLDPWD/ran"',
  ].join("\n");
}

describeEachMechanism("with %s", (mechanism, withMechanism) => {
  // Those that start slowly are tried with one of them; the folders of all are tested with both beside their table.
  for (const agent of AGENTS.filter(({ isSlow }) => !isSlow || mechanism === "bubblewrap")) {
    const program = agentProgram(agent.part);
    const test = program === undefined ? needs(agent.part) : withMechanism;
    test(`a command of the real ${agent.part} changes nothing in its folders for good${agent.resumes ? ", and its session is resumed" : ""}`, async () => {
      leavesNoProcess();
      const folder = await agentFolder();
      const [home, workspace] = [folder.join("home"), folder.join("workspace")];
      mkdirSync(workspace);
      for (const [name, content] of Object.entries(agent.files)) {
        mkdirSync(dirname(join(home, name)), { recursive: true });
        writeFileSync(join(home, name), content);
      }
      writeFileSync(join(workspace, "hostile.sh"), hostileScript(agent, workspace));
      const driver = await agent.driver(program ?? agent.part, home);
      const commands = new CommandSandbox({
        ...{ environment: process.env, mechanisms: [mechanism], scopeFolder: folder.join("state") },
      });
      onTestFinished(() => commands.closeScope("t"));
      const sandbox = threadSandbox(commands, () => false);
      const settings = testSettings(agent.model, workspace);
      const open = async (nativeId?: string) => {
        const session = await driver.open(sessionSpec(settings, sandbox, { threadId: "t", nativeId }));
        onTestFinished(() => session.close());
        return session;
      };
      const run = async (session: Awaited<ReturnType<typeof open>>, text: string) => {
        const decide = () => ({ outcome: "allow", scope: "once" }) as const;
        const turn = new RecordingTurn({ text, settings, decide });
        expect(await session.run(turn).finally(() => turn.end())).toEqual({ status: "completed" });
        return turn;
      };
      const left = () =>
        Object.fromEntries(Object.entries(filesIn(home)).filter(([name]) => !agent.sessions.test(name)));

      const session = await open();
      const first = await run(session, "run `sh hostile.sh`");
      expect(readFileSync(join(workspace, "ran"), "utf8")).toBe("ran\n");
      // Its writes do not change when its own agent asks, either.
      const second = await run(session, "run `sh hostile.sh`");
      for (const turn of [first, second]) expect(turn.actions).toMatchObject([{ kind: "command" }]);
      await session.close();
      await driver.close?.();
      expect(left()).toEqual(agent.files);

      if (!agent.resumes) return;
      const nativeId = first.events.findLast((event) => event.type === "session")?.nativeId;
      const again = await run(await open(nativeId), "what did I ask you?");
      const answer = again.completedItems.flatMap((item) => ("text" in item ? [String(item.text)] : []));
      expect(answer.join("")).toMatch(/hostile\.sh/);
      expect(left()).toEqual(agent.files);
    }, 240_000);
  }
});
