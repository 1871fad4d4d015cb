import {
  appendFileSync,
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
import type { SandboxPolicy } from "@flint/protocol";
import { needs, realSandbox } from "@flint/testkit";
import { test as anywhere, describe, expect, onTestFinished } from "vitest";
import { ACP_PROFILES, profileFor } from "../acp/descriptor.ts";
import {
  type AgentFolder,
  agentPaths,
  CLAUDE_FOLDER,
  CODEX_FOLDER,
  defaultFolders,
  folderPath,
} from "./agent-folders.ts";

const KNOWN = { claude: [CLAUDE_FOLDER], codex: [CODEX_FOLDER], unknown: defaultFolders("newcomer") };
const AGENTS: Readonly<Record<string, readonly AgentFolder[]>> = {
  ...KNOWN,
  ...Object.fromEntries(ACP_PROFILES.map(({ id, folders = [] }) => [`${id} over ACP`, folders])),
};

/** What an unconfined program runs, sources or obeys later; and some that agents have to write. */
const SETTINGS = [
  ...[".claude/settings.json", ".claude/hooks/x.sh", ".claude/plugins/p/x.js", ".claude/commands/x.md"],
  ...[
    ".claude/shell-snapshots/x.sh",
    ".claude/session-env/1/x-hook-1.sh",
    ".claude.json",
    ".claude/agents/x.md",
  ],
  ...[".codex/config.toml", ".codex/rules/default.rules", ".codex/hooks.json", ".codex/prompts/x.md"],
  ...[
    ".codex/tmp/arg0/apply_patch",
    ".codex/shell_snapshots/x.sh",
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
const LOGINS = [
  ...[
    ".claude/.credentials.json",
    ".codex/auth.json",
    ".local/share/opencode/auth.json",
    ".gemini/oauth_creds.json",
  ],
  ".newcomer/oauth_creds.json",
];
const SESSIONS = [
  ...[".claude/projects/p/1.jsonl", ".codex/sessions/2026/1.jsonl", ".local/share/opencode/storage/1.json"],
  ...[".local/share/opencode/flint/opencode.db", ".local/share/goose/sessions/sessions.db"],
];

function stage() {
  const home = realpathSync(mkdtempSync("/var/tmp/flint-agent-folders-"));
  onTestFinished(() => rmSync(home, { recursive: true, force: true }));
  for (const name of [...SETTINGS, ...LOGINS, ...SESSIONS]) {
    mkdirSync(dirname(join(home, name)), { recursive: true });
    writeFileSync(join(home, name), "before\n");
  }
  mkdirSync(join(home, "workspace"));
  return home;
}

/** All files below a folder, with what they hold. */
function filesIn(folder: string): Record<string, string> {
  const files = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((name) =>
    statSync(join(folder, name)).isFile(),
  );
  return Object.fromEntries(files.sort().map((name) => [name, readFileSync(join(folder, name), "utf8")]));
}

/** Changes whatever can be changed, replaces it, and puts something new into every folder. */
const VANDAL = `cd "$HOME"
find . -type f ! -path './workspace/*' | while read -r file; do
  echo after >> "$file"
  echo replaced > "$file.new" && mv -f "$file.new" "$file"
done 2>/dev/null
find . -type d ! -path './workspace*' | while read -r folder; do echo planted > "$folder/planted.js"; done 2>/dev/null
mkdir -p .config/opencode/plugin .gemini/extensions/e .claude/skills/s .codex/skills/s 2>/dev/null
echo done`;

/** Changes what an agent's sandbox lets it change in a home; returns what that is beyond its sessions and login. */
async function vandalize(
  home: string,
  folders: readonly AgentFolder[],
  policy: SandboxPolicy,
  moved: Readonly<Record<string, string>> = {},
) {
  const before = filesIn(home);
  const { environment, ...paths } = await agentPaths(folders, moved, home);
  const workspace = join(home, "workspace");
  const running = await realSandbox().start({
    ...{ command: ["sh", "-c", VANDAL], cwd: workspace, workspace, policy, ...paths },
    environment: { ...environment, HOME: home },
  });
  expect(await text(running.stdout)).toBe("done\n");
  await running.exited;
  const after = filesIn(home);
  const isOwn = (path: string) =>
    paths.ownPaths.some((own) => `${join(home, path)}/`.startsWith(join(own, "/")));
  const changed = Object.keys({ ...before, ...after }).filter((path) => before[path] !== after[path]);
  return { changed: changed.filter((path) => !isOwn(path)), before, after, isOwn };
}

describe.each(Object.keys(AGENTS))("a sandboxed agent with the folders of %s", (name) => {
  const test = needs("namespaces");
  const folders = AGENTS[name] ?? [];

  for (const policy of [{ type: "workspaceWrite" }, { type: "readOnly" }] satisfies SandboxPolicy[]) {
    test(`changes nothing but its own sessions and login, with ${policy.type}`, async () => {
      const home = stage();
      const { changed, before, after, isOwn } = await vandalize(home, folders, policy);
      expect(changed).toEqual([]);
      expect(SETTINGS.filter(isOwn)).toEqual([]);
      // It can write what it should.
      const unwritten = [...LOGINS, ...SESSIONS].filter(
        (path) => isOwn(path) && before[path] === after[path],
      );
      expect(unwritten).toEqual([]);
    });
  }

  test("changes no settings of its own even if the whole home is writable, wherever they are", async () => {
    const home = stage();
    const moved = Object.fromEntries(
      folders.flatMap(({ path, movedBy }) =>
        movedBy === undefined ? [] : [[movedBy.variable, join(home, "moved", path)]],
      ),
    );
    const own = folders.map((folder) => folderPath(folder, moved, home));
    for (const path of own) {
      mkdirSync(path, { recursive: true });
      writeFileSync(join(path, "settings"), "before\n");
    }
    const policy: SandboxPolicy = { type: "workspaceWrite", writableRoots: [home] };
    const { changed } = await vandalize(home, folders, policy, moved);
    const isInside = (path: string) => own.some((folder) => join(home, path).startsWith(`${folder}/`));
    expect(changed.filter(isInside)).toEqual([]);
  });
});

anywhere("lets every known agent write its sessions and login", async () => {
  const home = stage();
  const all = await Promise.all(Object.values(AGENTS).map((folders) => agentPaths(folders, {}, home)));
  const own = all.flatMap(({ ownPaths }) => ownPaths);
  const isWritable = (path: string) =>
    own.some((writable) => `${join(home, path)}/`.startsWith(join(writable, "/")));
  expect([...LOGINS, ...SESSIONS].filter((path) => !isWritable(path))).toEqual([]);
});

anywhere("moves a folder by its variable, without anything around it", async () => {
  const home = stage();
  const opencode = profileFor(["opencode"]).folders ?? [];
  const moved = { XDG_CONFIG_HOME: join(home, "c"), XDG_DATA_HOME: join(home, "d") };
  const { ownPaths, privateFolders, environment } = await agentPaths(opencode, moved, home);
  expect(privateFolders.map(({ path }) => path)).toEqual([
    ...[join(home, "c/opencode"), join(home, ".cache/opencode"), join(home, ".local/state/opencode")],
    join(home, "d/opencode"),
  ]);
  expect(ownPaths.filter((path) => !path.startsWith(join(home, "d/opencode/")))).toEqual([]);
  expect(environment).toEqual({ OPENCODE_DB: join(home, "d/opencode/flint/opencode.db") });
  appendFileSync(join(home, "d/opencode/flint/opencode.db"), "");
});
