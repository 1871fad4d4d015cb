import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { chmod, mkdir, writeFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { agentProgram, needs } from "@flint/testkit";
import { expect, test } from "vitest";
import { type CommandFixture, commandFixture } from "./flint.ts";

const SERVER = fileURLToPath(new URL("../../packages/agent/src/mcp/fixtures/server.mjs", import.meta.url));
const LONG = 180_000;

const CALL_ECHO = JSON.stringify([
  [{ call: "mcp__docs__echo", input: { text: "hello" } }],
  [{ text: "The server answered." }],
]);

/** Runs one turn; everything is allowed, in the sandbox. */
function turn({ flint }: CommandFixture, options: readonly string[], env: NodeJS.ProcessEnv) {
  return flint(["exec", "--json", "--approval", "never", ...options, "go"], { env });
}

function mcpCalls(stdout: string): unknown[] {
  const events = stdout
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));
  return events.filter(({ type, item }) => type === "item/completed" && item.type === "mcpToolCall");
}

const CLAUDE = agentProgram("claude");

needs("claude")(
  "a repository's core.fsmonitor and hooks of Claude do not run before they are trusted [A3] [P35]",
  async () => {
    const fixture = await commandFixture();
    const { cwd, flint } = fixture;
    const ran = (name: string) => existsSync(`${cwd}/ran-${name}`);
    execFileSync("git", ["init", "-q"], { cwd });
    execFileSync("git", ["config", "core.fsmonitor", `touch ${cwd}/ran-fsmonitor; echo`], { cwd });
    await mkdir(`${cwd}/.claude`);
    const hooks = { SessionStart: [{ hooks: [{ type: "command", command: `touch ${cwd}/ran-hook` }] }] };
    await writeFile(`${cwd}/.claude/settings.json`, JSON.stringify({ hooks }));
    const env = { CLAUDE_CODE_EXECUTABLE: CLAUDE };
    const options = ["--agent", "claude", "--offline"];
    const before = await turn(fixture, options, env);
    expect([before.code, ran("fsmonitor"), ran("hook")]).toEqual([0, false, false]);
    expect(before.stdout + before.stderr).toMatch(/\.claude\/settings\.json.*\.git\/config.*flint trust/);
    await flint(["trust", "--yes"]);
    const after = await turn(fixture, options, env);
    expect([after.code, ran("fsmonitor"), ran("hook")]).toEqual([0, true, true]);
  },
  LONG,
);

/** A project whose `.mcp.json` names a script of the project, which starts the fixture server. */
async function projectWithServer() {
  const fixture = await commandFixture();
  const { cwd, home } = fixture;
  const script = `${cwd}/tools/mcp.cjs`;
  await mkdir(`${cwd}/tools`);
  await writeFile(script, `require("./start.cjs");\n`);
  await writeFile(`${cwd}/tools/start.cjs`, `import(${JSON.stringify(SERVER)});\n`);
  const servers = { docs: { command: process.execPath, args: ["tools/mcp.cjs"] } };
  await writeFile(`${cwd}/.mcp.json`, JSON.stringify({ mcpServers: servers }));
  await writeFile(`${home}/script.json`, CALL_ECHO);
  return { ...fixture, fixture, env: { FLINT_OFFLINE_SCRIPT: `${home}/script.json` } };
}

test(
  "the script of a trusted MCP server is not run after it or what it imports was changed [A4] [P35]",
  async () => {
    const { fixture, flint, cwd, env } = await projectWithServer();
    expect((await flint(["trust", "--yes"])).stdout).toContain("MCP server docs");
    expect(mcpCalls((await turn(fixture, [], env)).stdout)).toMatchObject([
      { item: { status: "completed" } },
    ]);
    const evil = `require("node:fs").writeFileSync(${JSON.stringify(`${cwd}/ran`)}, "");\n`;
    await writeFile(`${cwd}/tools/start.cjs`, evil);
    const changed = await turn(fixture, [], env);
    expect(mcpCalls(changed.stdout)).toEqual([]);
    expect(changed.stdout + changed.stderr).toContain("the current content is not trusted");
    expect(existsSync(`${cwd}/ran`)).toBe(false);
    await flint(["trust", "--yes"]);
    await turn(fixture, [], env);
    expect(existsSync(`${cwd}/ran`)).toBe(true);
  },
  LONG,
);

test(
  "a program that a confined command planted in node_modules/.bin is not run by the next thread [A4]",
  async () => {
    const fixture = await commandFixture();
    const { cwd, home } = fixture;
    await mkdir(`${home}/.config/flint`, { recursive: true });
    await writeFile(
      `${home}/.config/flint/config.toml`,
      '[mcp_servers.docs]\ncommand = "node_modules/.bin/docs-server"\n',
    );
    const plant = `mkdir -p node_modules/.bin && printf '#!/bin/sh\\ntouch ${cwd}/ran\\n' > node_modules/.bin/docs-server && chmod +x node_modules/.bin/docs-server`;
    await writeFile(
      `${home}/script.json`,
      JSON.stringify([[{ call: "shell", input: { command: plant } }], [{ text: "Done." }]]),
    );
    const env = { FLINT_OFFLINE_SCRIPT: `${home}/script.json` };
    await turn(fixture, [], env);
    expect(existsSync(`${cwd}/node_modules/.bin/docs-server`)).toBe(true);
    const next = await turn(fixture, [], env);
    expect(next.stdout + next.stderr).toContain("flint trust");
    expect(existsSync(`${cwd}/ran`)).toBe(false);
  },
  LONG,
);

test("the program of an MCP server runs in the sandbox: it cannot write outside of the workspace [A4]", async () => {
  const fixture = await commandFixture();
  const { cwd, home } = fixture;
  const program = `${home}/server.sh`;
  await writeFile(program, `#!/bin/sh\ntouch ${home}/outside ${cwd}/inside\n`);
  await chmod(program, 0o755);
  await mkdir(`${home}/.config/flint`, { recursive: true });
  await writeFile(
    `${home}/.config/flint/config.toml`,
    `[mcp_servers.docs]\ncommand = ${JSON.stringify(program)}\n`,
  );
  await turn(fixture, [], {});
  expect([existsSync(`${home}/outside`), existsSync(`${cwd}/inside`)]).toEqual([false, true]);
});
