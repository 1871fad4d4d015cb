import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { text } from "node:stream/consumers";
import { CommandSandbox } from "@flint/host/sandbox";
import type { SandboxPolicy } from "@flint/protocol";
import { describeEachMechanism } from "@flint/testkit";
import { expect, onTestFinished } from "vitest";
import { ACP_PROFILES } from "../acp/descriptor.ts";
import { AgentProcess } from "../shared/agent-process.ts";
import {
  type AgentFolder,
  CLAUDE_FOLDER,
  CODEX_FOLDER,
  defaultFolders,
  GOOSE_FOLDERS,
} from "../shared/folders/agent-folders.ts";
import { agentPaths, folderPath } from "../shared/folders/agent-paths.ts";

const KNOWN = { claude: [CLAUDE_FOLDER], codex: [CODEX_FOLDER], unknown: defaultFolders("newcomer") };
/** The folders of each agent, by its name. */
export const AGENTS: Readonly<Record<string, readonly AgentFolder[]>> = {
  ...KNOWN,
  ...Object.fromEntries(
    ACP_PROFILES.filter(({ id }) => !/^(?:claude|codex)/.test(id)).map(({ id, folders = [] }) => [
      id,
      folders,
    ]),
  ),
};

/** The agents that are tried in each run, and those that only the long tests try. */
export const FIRST_AGENTS: readonly string[] = Object.keys(KNOWN);
export const FURTHER_AGENTS: readonly string[] = Object.keys(AGENTS).filter((name) => !(name in KNOWN));

/** Files that an unconfined program runs, sources or obeys later, and some that agents have to write. */
const SETTINGS = [
  ...[".claude/settings.json", ".claude/hooks/x.sh", ".claude/plugins/p/x.js", ".claude/commands/x.md"],
  ...[
    ".claude/shell-snapshots/x.sh",
    ".claude/session-env/1/x-hook-1.sh",
    ".claude/debug/latest",
    ".claude.json",
    ".claude/agents/x.md",
  ],
  ...[".codex/config.toml", ".codex/rules/default.rules", ".codex/hooks.json", ".codex/prompts/x.md"],
  ...[
    ".codex/tmp/arg0/apply_patch",
    ".codex/shell_snapshots/x.sh",
    ".codex/log/codex-tui.log",
    ".codex/AGENTS.md",
    ".codex/plugins/x.js",
  ],
  ...[
    ".config/opencode/opencode.json",
    ".config/opencode/plugin/x.js",
    ".config/opencode/node_modules/x/x.js",
  ],
  ...[".cache/opencode/bin/x", ".cache/opencode/node_modules/x.js", ".local/share/opencode/bin/server"],
  ...[
    ".local/share/opencode/snapshot/1/config",
    ".local/share/opencode/opencode.db",
    ".local/state/opencode/kv.json",
  ],
  ...[
    ".gemini/settings.json",
    ".gemini/extensions/x/x.js",
    ".gemini/tmp/bin/rg",
    ".gemini/history/1/.gitconfig",
  ],
  ...[".gemini/.env", ".gemini/trustedFolders.json", ".gemini/policies/x.toml", ".gemini/commands/x.toml"],
  ...[".config/goose/config.yaml", ".config/goose/recipes/x.yaml", ".local/share/goose/bin/x"],
  ...[
    ".newcomer/settings.json",
    ".newcomer/hooks/x.sh",
    ".config/newcomer/config.toml",
    ".cache/newcomer/x.js",
  ],
];
/** Logins, and what they become when they are renewed. */
export const LOGINS: Readonly<Record<string, readonly [before: object, after: object]>> = {
  ".claude/.credentials.json": [
    { claudeAiOauth: { accessToken: "a", expiresAt: 1 } },
    { claudeAiOauth: { accessToken: "b", expiresAt: 2 } },
  ],
  ".codex/auth.json": [
    { OPENAI_API_KEY: null, tokens: { access_token: "a" } },
    { OPENAI_API_KEY: null, tokens: { access_token: "b" }, last_refresh: "2026-11-17T00:00:00Z" },
  ],
  ".local/share/opencode/auth.json": [
    { anthropic: { type: "oauth", access: "a", expires: 1 } },
    { anthropic: { type: "oauth", access: "b", expires: 2 } },
  ],
  ".gemini/oauth_creds.json": [
    { access_token: "a", expiry_date: 1 },
    { access_token: "b", expiry_date: 2 },
  ],
  ".newcomer/oauth_creds.json": [{ token: "a" }, { token: "b" }],
};
/** The owner of each login. */
const OWNERS = {
  claude: ".claude",
  codex: ".codex",
  opencode: ".local",
  gemini: ".gemini",
  unknown: ".newcomer",
};
/** Sessions that no thread has to do with. */
const OTHER_SESSIONS = [".claude/projects/p/1.jsonl", ".codex/sessions/2026/11/19/1.jsonl"];
/** Files in which agents store sessions. */
export const SESSIONS = [
  ...[".local/share/opencode/storage/1.json", ".local/share/opencode/flint/opencode.db"],
  ".local/share/goose/sessions/sessions.db",
];

/** A home with all of it, or with nothing but a folder to work in. */
export function stage(isEmpty = false) {
  const home = realpathSync(mkdtempSync("/var/tmp/flint-agent-folders-"));
  onTestFinished(() => rmSync(home, { recursive: true, force: true }));
  mkdirSync(join(home, "workspace"));
  if (isEmpty) return home;
  const logins = Object.entries(LOGINS).map(([name, [before]]) => [name, JSON.stringify(before)] as const);
  for (const [name, content] of [
    ...[...SETTINGS, ...OTHER_SESSIONS, ...SESSIONS].map((name) => [name, "before\n"] as const),
    ...logins,
  ]) {
    mkdirSync(dirname(join(home, name)), { recursive: true });
    writeFileSync(join(home, name), content);
  }
  return home;
}

/** All files below a folder, with what they hold. */
function filesIn(folder: string): Record<string, string> {
  const files = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((name) =>
    statSync(join(folder, name)).isFile(),
  );
  return Object.fromEntries(files.sort().map((name) => [name, readFileSync(join(folder, name), "utf8")]));
}

const PLANTED = [...SETTINGS, ".claude/.config.json"];

/**
 * Changes whatever can be changed, replaces it, and puts something new into every folder. One process does it all, because
 * there are many agents to try.
 */
const VANDAL = `cd "$HOME" && find . ! -path './workspace*' | perl -MFile::Path=make_path -ne '
sub put { my ($how, $path, $text) = @_; open(my $file, $how, $path) or return 0; print $file $text; close $file }
chomp;
if (-d && !-l) { put(">", "$_/planted.js", "planted\\n") }
elsif (-f && !-l) { put(">>", $_, "after\\n"); rename "$_.new", $_ if put(">", "$_.new", "replaced\\n") }
END { for (qw(${PLANTED.join(" ")})) { m{(.+)/} and eval { make_path($1) }; put(">", $_, "planted\\n") } }
' 2>/dev/null
echo done`;

/** Tries what these agents can change in a home, with each mechanism. */
export function describeAgentFolders(agents: readonly string[]): void {
  describeEachMechanism("a sandboxed agent with %s", (mechanism, test) => {
    /** Runs a script with the folders of an agent; returns what the home had before and after, and its own paths. */
    async function run(
      name: string,
      home: string,
      policy: SandboxPolicy,
      script: string,
      moved: Readonly<Record<string, string>> = {},
    ) {
      const before = filesIn(home);
      const workspace = join(home, "workspace");
      const thread = { threadId: "t", cwd: workspace, stateFolder: undefined };
      const found = await agentPaths(AGENTS[name] ?? [], moved, home, thread);
      const { environment, sandboxed, clean, sessions: _, ...paths } = found;
      const sandbox = new CommandSandbox({ environment: process.env, mechanisms: [mechanism] });
      const running = await sandbox.start({
        ...{ command: ["sh", "-c", script], cwd: workspace, workspace, policy, ...paths },
        environment: { ...environment, ...sandboxed, HOME: home },
      });
      expect(await text(running.stdout)).toBe("done\n");
      await running.exited;
      await clean();
      const mine = (path: string) =>
        paths.ownPaths.some((own) => `${join(home, path)}/`.startsWith(join(own, "/")));
      return { before, after: filesIn(home), mine };
    }

    for (const name of agents) {
      for (const policy of [{ type: "workspaceWrite" }, { type: "readOnly" }] satisfies SandboxPolicy[]) {
        test(`changes nothing but its sessions in the folders of ${name}, with ${policy.type}`, async () => {
          const { before, after, mine } = await run(name, stage(), policy, VANDAL);
          const changed = Object.keys({ ...before, ...after }).filter((path) => before[path] !== after[path]);
          expect(changed.filter((path) => !mine(path))).toEqual([]);
          expect(SETTINGS.filter(mine)).toEqual([]);
          // It can write what it should.
          expect(SESSIONS.filter((path) => mine(path) && before[path] === after[path])).toEqual([]);
        });
      }

      test(`changes no settings of ${name} even if the whole home is writable, wherever they are`, async () => {
        const folders = AGENTS[name] ?? [];
        const home = stage();
        const moved = Object.fromEntries(
          folders.flatMap(({ path, movedBy }) =>
            movedBy === undefined ? [] : [[movedBy.variable, join(home, "moved", path)]],
          ),
        );
        for (const folder of folders.map((each) => folderPath(each, moved, home))) {
          mkdirSync(folder, { recursive: true });
          writeFileSync(join(folder, "settings"), "before\n");
        }
        for (const variables of [{}, moved]) {
          const policy: SandboxPolicy = { type: "workspaceWrite", writableRoots: [home] };
          const { before, after, mine } = await run(name, home, policy, VANDAL, variables);
          const inside = (path: string) =>
            folders.some((folder) => join(home, path).startsWith(`${folderPath(folder, variables, home)}/`));
          const changed = Object.keys({ ...before, ...after }).filter((path) => before[path] !== after[path]);
          expect(changed.filter((path) => inside(path) && !mine(path))).toEqual([]);
        }
      });

      test(`plants nothing in a home in which ${name} was never used`, async () => {
        const { after, mine } = await run(name, stage(true), { type: "workspaceWrite" }, VANDAL);
        expect(Object.keys(after).filter((path) => !mine(path))).toEqual([]);
      });
    }

    for (const [name, folder] of Object.entries(OWNERS).filter(([owner]) => agents.includes(owner))) {
      const [login = "", [, renewed] = []] =
        Object.entries(LOGINS).find(([path]) => path.startsWith(`${folder}/`)) ?? [];
      const renew = `cd "$HOME"; printf %s '${JSON.stringify(renewed)}' > ${login}.tmp && mv ${login}.tmp ${login}; echo done`;

      test(`stores the renewed login of ${name}, and no changed one`, async () => {
        const home = stage();
        const { after } = await run(name, home, { type: "workspaceWrite" }, renew);
        expect(JSON.parse(after[login] ?? "")).toEqual(renewed);
        const spoil = `cd "$HOME"; printf %s '${JSON.stringify({ ...renewed, apiKeyHelper: "evil" })}' > ${login}; echo done`;
        const again = await run(name, home, { type: "workspaceWrite" }, spoil);
        expect(again.after).toEqual(again.before);
      });

      test(`stores the first login of ${name} only if its file is known`, async () => {
        const { after } = await run(
          name,
          stage(true),
          { type: "readOnly" },
          `mkdir -p "$HOME/${folder}"; ${renew}`,
        );
        expect(Object.keys(after)).toEqual(name === "unknown" ? [] : [login]);
      });
    }

    if (agents.includes("codex"))
      test("leaves no link among its sessions that an agent outside would follow", async () => {
        const home = stage();
        const workspace = join(home, "workspace");
        const planted = join(home, ".local/share/goose/sessions/later.db");
        const agent = await AgentProcess.start({
          ...{
            name: "Goose",
            command: ["sh", "-c", `ln -s "$HOME/.bashrc" ${planted} && test -L ${planted}`],
          },
          ...{
            cwd: workspace,
            policy: { type: "workspaceWrite" },
            environment: { HOME: home },
            hosts: [],
            home,
          },
          ...{ sandbox: new CommandSandbox({ environment: process.env, mechanisms: [mechanism] }) },
          folders: GOOSE_FOLDERS,
        });
        expect(await agent.exited).toEqual({ exitCode: 0, lastLines: "" });
        expect(readdirSync(dirname(planted))).toEqual(["sessions.db"]);
      });

    if (agents.includes("claude"))
      test("shows Claude a copy of its main file where it can replace it", async () => {
        const home = stage();
        const script = `cat "$CLAUDE_CONFIG_DIR/.claude.json" >&2; cd "$CLAUDE_CONFIG_DIR"; echo x > y; mv y .claude.json && echo done`;
        const { before, after } = await run("claude", home, { type: "workspaceWrite" }, script);
        expect(after).toEqual(before);
      });
  });
}
