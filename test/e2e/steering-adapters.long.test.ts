import { existsSync } from "node:fs";
import { mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import { agentFolder, agentProgram, needs } from "@flint/testkit";
import { expect } from "vitest";
import { commandFixture } from "./flint.ts";

const LONG = 180_000;

/** A project with these files, and turns of an adapter in it, in which everything is allowed in the sandbox. */
async function project(
  agent: "claude" | "claude-agent-acp" | "codex-acp",
  files: (cwd: string) => Record<string, string>,
) {
  const { cwd, flint } = await commandFixture(agentFolder());
  for (const [name, text] of Object.entries(files(cwd))) {
    await mkdir(dirname(`${cwd}/${name}`), { recursive: true });
    await writeFile(`${cwd}/${name}`, text);
  }
  await flint(["config", "set", `agents.${agent}.command`, JSON.stringify([agentProgram(agent)])]);
  const env = { CODEX_PATH: agentProgram("codex"), CLAUDE_CODE_EXECUTABLE: agentProgram("claude") };
  const turn = async () => {
    const options = ["--json", "--approval", "never", "--agent", agent, "--offline"];
    const { code, stdout, stderr } = await flint(["exec", ...options, "hello"], { env });
    const ran = existsSync(`${cwd}/ran`) ? await readFile(`${cwd}/ran`, "utf8") : "";
    return { code, printed: stdout + stderr, hasRun: ran !== "", ran };
  };
  return { cwd, turn, trust: () => flint(["trust", "--yes"], { env }) };
}

/** Returns the command that a server of a project runs, which notes the sandbox it is in. */
const leaveMark = (cwd: string) => [
  "-c",
  `test -e /run/flint/broker && echo agent >> ${cwd}/ran || echo own >> ${cwd}/ran; cat`,
];

needs("claude-agent-acp", "claude")(
  "the MCP servers in a repository's .mcp.json are not started by Claude behind an adapter before they are trusted [A3]",
  async () => {
    const { turn, trust } = await project("claude-agent-acp", (cwd) => ({
      ".mcp.json": JSON.stringify({ mcpServers: { x: { command: "sh", args: leaveMark(cwd) } } }),
    }));
    const before = await turn();
    expect([before.code, before.hasRun], before.printed).toEqual([0, false]);
    expect(before.printed).toMatch(/Ignoring \.mcp\.json .*flint trust/);
    expect((await trust()).stdout.match(/\.mcp\.json \(not trusted/g)).toHaveLength(1);
    const after = await turn();
    expect([after.code, [...new Set(after.ran.trim().split("\n"))]], after.printed).toEqual([0, ["own"]]);
  },
  LONG,
);

needs("claude-agent-acp", "claude")(
  "a server in a trusted .mcp.json is not started by Claude behind an adapter either, if its program has changed",
  async () => {
    const program = (cwd: string) =>
      `require("node:fs").writeFileSync(${JSON.stringify(`${cwd}/ran`)}, "own"); process.stdin.resume();`;
    const server = { command: process.execPath, args: ["server.cjs"] };
    const { cwd, turn, trust } = await project("claude-agent-acp", (folder) => ({
      ".mcp.json": JSON.stringify({ mcpServers: { x: server } }),
      "server.cjs": program(folder),
    }));
    await trust();
    const first = await turn();
    expect([first.code, first.ran], first.printed).toEqual([0, "own"]);
    await writeFile(`${cwd}/server.cjs`, `${program(cwd)} // changed`);
    await rm(`${cwd}/ran`);
    const second = await turn();
    expect([second.code, second.ran], second.printed).toEqual([0, ""]);
    expect(second.printed).toContain('MCP server \\"x\\"');
  },
  LONG,
);

needs("claude-agent-acp", "claude")(
  "a repository's workflows do not reach Claude behind an adapter before they are trusted",
  async () => {
    const { turn } = await project("claude-agent-acp", () => ({
      ".claude/workflows/lantern.js": "export const meta = { name: 'lantern', description: 'lights up' };\n",
    }));
    const { code, printed } = await turn();
    expect(code, printed).toBe(0);
    expect(printed).toMatch(/Ignoring \.claude\/workflows .*flint trust/);
    expect(printed).not.toContain("lights up");
  },
  LONG,
);

needs("codex-acp", "codex")(
  "the MCP servers in a repository's Codex settings are not started behind an adapter before they are trusted [A3]",
  async () => {
    const { turn } = await project("codex-acp", (cwd) => ({
      ".codex/config.toml": `[mcp_servers.x]\ncommand = "sh"\nargs = ${JSON.stringify(leaveMark(cwd))}\n`,
    }));
    const { code, printed, hasRun } = await turn();
    expect([code, hasRun], printed).toEqual([0, false]);
    expect(printed).toMatch(/Ignoring \.codex\/config\.toml .*flint trust/);
  },
  LONG,
);

needs("claude")(
  "a repository's skills, commands, agents, workflows and MCP servers do not reach Claude before they are trusted [A3]",
  async () => {
    const described = (name: string) => `---\nname: ${name}\ndescription: lights up ${name}\n---\nDo it.\n`;
    const { turn, trust } = await project("claude", (cwd) => ({
      ".mcp.json": JSON.stringify({ mcpServers: { x: { command: "sh", args: leaveMark(cwd) } } }),
      ".claude/skills/a-skill/SKILL.md": described("a-skill"),
      ".claude/commands/a-command.md": described("a-command"),
      ".claude/agents/an-agent.md": described("an-agent"),
      ".claude/workflows/a-workflow.js":
        "export const meta = { name: 'a-workflow', description: 'lights up a-workflow' };\n",
    }));
    const lit = (printed: string) => [...new Set(printed.match(/lights up [\w-]+/g))].sort();
    const before = await turn();
    expect([before.code, before.hasRun, lit(before.printed)], before.printed).toEqual([0, false, []]);
    expect(before.printed).toMatch(
      /Ignoring \.claude\/agents, \.claude\/commands, \.claude\/skills, \.claude\/workflows .*flint trust/,
    );
    await trust();
    const after = await turn();
    expect([after.code, after.hasRun], after.printed).toEqual([0, true]);
    expect(lit(after.printed)).toEqual(["lights up a-command", "lights up a-skill", "lights up a-workflow"]);
  },
  LONG,
);
