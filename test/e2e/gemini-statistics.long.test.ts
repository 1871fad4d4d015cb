import { mkdir, writeFile } from "node:fs/promises";
import { agentFolder, agentProgram, needs } from "@flint/testkit";
import { expect, onTestFinished } from "vitest";
import { GeminiModelServer } from "../../packages/drivers/src/testing/gemini-model.ts";
import { commandFixture } from "./flint.ts";

needs("gemini")(
  "Gemini's own usage statistics are refused and listed, and the run is not one in which work was declined",
  async () => {
    const { home, flint } = await commandFixture(agentFolder());
    const model = await GeminiModelServer.start();
    onTestFinished(() => model.close());
    await mkdir(`${home}/.gemini`);
    const security = { auth: { selectedType: "gemini-api-key" } };
    await writeFile(`${home}/.gemini/settings.json`, JSON.stringify({ security }));
    const env = { GEMINI_API_KEY: "none", GOOGLE_GEMINI_BASE_URL: model.url };
    const program = JSON.stringify([agentProgram("gemini"), "--acp", "-m", "gemini-2.5-flash"]);
    await flint(["config", "set", "agents.gemini.command", program]);
    const args = ["exec", "--json", "--approval", "never", "--agent", "gemini", "Run `echo done`"];
    const { code, stdout, stderr } = await flint(args, { env });
    expect(stderr).toContain("play.googleapis.com:443: Approvals are off");
    expect([code, stdout.includes('"forItself":true')], stdout + stderr).toEqual([0, true]);
  },
  120_000,
);
