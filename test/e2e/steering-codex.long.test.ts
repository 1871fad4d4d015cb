import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";
import { agentFolder, agentProgram, needs } from "@flint/testkit";
import { expect } from "vitest";
import { type CommandFixture, commandFixture } from "./flint.ts";

const LONG = 180_000;

/** Runs one turn; everything is allowed, in the sandbox. */
function turn({ flint }: CommandFixture, env: NodeJS.ProcessEnv) {
  return flint(["exec", "--json", "--approval", "never", "--agent", "codex", "--offline", "go"], { env });
}

needs("codex")(
  "a repository's Codex MCP server runs only once trusted, and its hooks still need Codex's trust then [A3] [P35]",
  async () => {
    const fixture = await commandFixture();
    const { cwd, flint } = fixture;
    const { path: home } = await agentFolder();
    const ran = (name: string) => existsSync(`${cwd}/ran-${name}`);
    execFileSync("git", ["init", "-q"], { cwd });
    await mkdir(`${cwd}/.codex`);
    const hook = { hooks: [{ type: "command", command: `touch ${cwd}/ran-hook` }] };
    const hooks = { SessionStart: [hook], UserPromptSubmit: [hook] };
    await writeFile(`${cwd}/.codex/hooks.json`, JSON.stringify({ hooks }));
    await writeFile(
      `${cwd}/.codex/config.toml`,
      `[mcp_servers.x]\ncommand = "sh"\nargs = ["-c", "touch ${cwd}/ran-mcp; cat"]\n`,
    );
    const env = { HOME: home, CODEX_EXECUTABLE: agentProgram("codex") };
    const before = await turn(fixture, env);
    expect([before.code, ran("hook"), ran("mcp")], before.stdout + before.stderr).toEqual([0, false, false]);
    expect(before.stdout + before.stderr).toMatch(/\.codex\/.*flint trust/);
    await flint(["trust", "--yes"], { env });
    // Codex 0.166.0 runs the hooks of a trusted project only after its user has reviewed them in Codex.
    const after = await turn(fixture, env);
    expect([after.code, ran("hook"), ran("mcp")], after.stdout + after.stderr).toEqual([0, false, true]);
  },
  LONG,
);
