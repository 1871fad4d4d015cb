import { existsSync } from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";
import { agentFolder, agentProgram, needs } from "@flint/testkit";
import { expect, onTestFinished } from "vitest";
import { GeminiModelServer } from "../../packages/drivers/src/testing/gemini-model.ts";
import { commandFixture } from "./flint.ts";

const GEMINI = agentProgram("gemini");

needs("gemini")(
  "an MCP server in a repository's Gemini settings does not run before they are trusted, and then does [A3] [P35]",
  async () => {
    const { cwd, home, flint } = await commandFixture(agentFolder());
    const model = await GeminiModelServer.start();
    onTestFinished(() => model.close());
    const hasRun = () => existsSync(`${cwd}/ran`);
    await mkdir(`${cwd}/.gemini`);
    await mkdir(`${cwd}/.agents/skills/x`, { recursive: true });
    const server = { command: "sh", args: ["-c", `touch ${cwd}/ran; cat`] };
    await writeFile(`${cwd}/.gemini/settings.json`, JSON.stringify({ mcpServers: { x: server } }));
    await writeFile(`${cwd}/.env`, "GEMINI_MODEL=other\n");
    await writeFile(`${cwd}/.agents/skills/x/SKILL.md`, "---\nname: x\ndescription: lantern\n---\n");
    await mkdir(`${home}/.gemini`);
    const auth = { selectedType: "gemini-api-key" };
    await writeFile(
      `${home}/.gemini/settings.json`,
      JSON.stringify({ security: { auth }, privacy: { usageStatisticsEnabled: false } }),
    );
    // Gemini itself trusts the folder already, or it would use nothing of it either.
    await writeFile(`${home}/.gemini/trustedFolders.json`, JSON.stringify({ [cwd]: "TRUST_FOLDER" }));
    const env = { GEMINI_API_KEY: "none", GOOGLE_GEMINI_BASE_URL: model.url };
    const program = JSON.stringify([GEMINI, "--acp", "-m", "gemini-2.5-flash"]);
    await flint(["config", "set", "agents.gemini.command", program]);

    const turn = () => flint(["exec", "--json", "--approval", "never", "--agent", "gemini", "go"], { env });
    const before = await turn();
    expect([before.code, hasRun()], before.stdout + before.stderr).toEqual([0, false]);
    expect(before.stdout + before.stderr).toMatch(/\.gemini, \.env, \.agents\/skills .*flint trust/);
    const trusted = await flint(["trust", "--yes"], { env });
    expect(trusted.stdout).toContain(".agents/skills (not trusted; ");
    const after = await turn();
    expect([after.code, hasRun()], after.stdout + after.stderr).toEqual([0, true]);
  },
  180_000,
);
