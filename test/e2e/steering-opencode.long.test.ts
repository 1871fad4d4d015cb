import { existsSync } from "node:fs";
import { mkdir, readdir, writeFile } from "node:fs/promises";
import { agentFolder, agentProgram, needs } from "@flint/testkit";
import { expect } from "vitest";
import { type CommandFixture, commandFixture } from "./flint.ts";

const LONG = 180_000;

/** Runs one turn; everything is allowed, in the sandbox. */
function turn({ flint }: CommandFixture, options: readonly string[], env: NodeJS.ProcessEnv) {
  return flint(["exec", "--json", "--approval", "never", ...options, "go"], { env });
}

const OPENCODE = agentProgram("opencode");

needs("opencode")(
  "a repository's OpenCode plugin and MCP server do not run before they are trusted, and then do [A3] [P35]",
  async () => {
    const fixture = await commandFixture();
    const { cwd, flint } = fixture;
    const { path: home } = await agentFolder();
    const ran = (name: string) => existsSync(`${cwd}/ran-${name}`);
    await mkdir(`${cwd}/.opencode/plugin`, { recursive: true });
    await writeFile(
      `${cwd}/.opencode/plugin/x.js`,
      `import { writeFileSync } from "node:fs";\nwriteFileSync(${JSON.stringify(`${cwd}/ran-plugin`)}, "");\nexport const X = async () => ({});\n`,
    );
    for (const folder of [".agents", ".claude"]) {
      await mkdir(`${cwd}/${folder}/skills/x`, { recursive: true });
      const skill = `---\nname: x${folder}\ndescription: lights up\n---\n`;
      await writeFile(`${cwd}/${folder}/skills/x/SKILL.md`, skill);
    }
    const command = ["sh", "-c", `touch ${cwd}/ran-mcp; cat`];
    await writeFile(
      `${cwd}/opencode.json`,
      JSON.stringify({ mcp: { x: { type: "local", command, enabled: true } } }),
    );
    const env = { HOME: home, PATH: `${OPENCODE?.replace(/\/[^/]*$/, "")}:${process.env.PATH}` };
    // OpenCode installs a package for its plugins in the background; that it may not do so would be reported.
    const options = ["--agent", "opencode", "--offline", "--network", "registry.npmjs.org"];
    const before = await turn(fixture, options, env);
    expect([before.code, ran("plugin"), ran("mcp")], before.stderr).toEqual([0, false, false]);
    const ignored = /\.opencode, opencode\.json, \.agents\/skills, \.claude\/skills .*flint trust/;
    expect(before.stdout + before.stderr).toMatch(ignored);
    expect(before.stdout).not.toContain("lights up");
    const trusted = await flint(["trust", "--yes"], { env });
    expect(trusted.stdout).toContain(".opencode (not trusted; OpenCode");
    const after = await turn(fixture, options, env);
    expect([after.code, ran("plugin"), ran("mcp")], after.stdout).toEqual([0, true, true]);
    expect(after.stdout).toContain("lights up");
    // It makes a .gitignore there when it starts, which stays in its sandbox.
    expect(await readdir(`${cwd}/.opencode`)).toEqual(["plugin"]);
  },
  LONG,
);
