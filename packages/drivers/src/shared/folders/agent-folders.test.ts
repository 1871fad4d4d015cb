import { appendFileSync } from "node:fs";
import { join } from "node:path";
import { test as anywhere, expect } from "vitest";
import { profileFor } from "../../acp/descriptor.ts";
import {
  AGENTS,
  describeAgentFolders,
  FIRST_AGENTS,
  LOGINS,
  SESSIONS,
  stage,
} from "../../testing/agent-folders.ts";
import { CLAUDE_FOLDER } from "./agent-folders.ts";
import { agentPaths } from "./agent-paths.ts";

describeAgentFolders(FIRST_AGENTS);

anywhere("every file of a known login can be stored, and every session is real", async () => {
  const home = stage();
  const all = await Promise.all(Object.values(AGENTS).map((folders) => agentPaths(folders, {}, home)));
  const own = all.flatMap(({ ownPaths }) => ownPaths);
  const copied = all.flatMap(({ privateFolders }) =>
    privateFolders.flatMap(({ path, copies = [] }) =>
      copies.flatMap(({ name, accepts }) => (accepts === undefined ? [] : [join(path, name)])),
    ),
  );
  const isWritable = (path: string) =>
    own.some((writable) => `${join(home, path)}/`.startsWith(join(writable, "/")));
  expect(SESSIONS.filter((path) => !isWritable(path))).toEqual([]);
  expect(Object.keys(LOGINS).filter((path) => !copied.includes(join(home, path)))).toEqual([]);
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

anywhere("copies Claude's main file from the home, or from where its folder was moved to", async () => {
  const originals = async (variables: Readonly<Record<string, string>>) => {
    const { privateFolders } = await agentPaths([CLAUDE_FOLDER], variables, "/nowhere/home");
    const copies = privateFolders.flatMap(({ path, copies = [] }) =>
      copies.map(({ name, original = join(path, name) }) => original),
    );
    return copies.filter((path) => path.endsWith(".claude.json"));
  };
  expect(await originals({})).toEqual(["/nowhere/home/.claude.json"]);
  expect(await originals({ CLAUDE_CONFIG_DIR: "/nowhere/c" })).toEqual(["/nowhere/c/.claude.json"]);
});
