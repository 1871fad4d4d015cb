import { mkdir, readFile, writeFile } from "node:fs/promises";
import { agentFolder, agentProgram, needs } from "@flint/testkit";
import { describe, expect } from "vitest";
import { run, serve } from "./model-serve.ts";

async function workspace(): Promise<string> {
  const { path } = await agentFolder();
  await mkdir(`${path}/home`);
  await writeFile(`${path}/README.md`, "# Sample\n");
  return path;
}

describe("real agents without a key", () => {
  const claude = agentProgram("claude");
  const codex = agentProgram("codex");

  needs("claude")(
    "Claude Code runs a command and writes a file",
    async () => {
      const { url } = await serve();
      const path = await workspace();
      const env = {
        PATH: process.env.PATH,
        HOME: `${path}/home`,
        ANTHROPIC_BASE_URL: url,
        ANTHROPIC_API_KEY: "none",
        CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
      };
      const ask = (prompt: string) =>
        run(claude ?? "", ["-p", prompt, "--allowedTools", "Bash,Write,Edit,Read"], path, env);
      expect(await ask("run `echo $((40 + 2))`")).toMatchObject({
        code: 0,
        stdout: expect.stringContaining("42"),
      });
      expect(await ask("create hello.py that prints hi")).toMatchObject({ code: 0 });
      expect(await ask("replace hi with hello in hello.py")).toMatchObject({ code: 0 });
      expect(await readFile(`${path}/hello.py`, "utf8")).toBe('print("hello")\n');
    },
    120_000,
  );

  needs("codex")(
    "Codex runs a command and writes a file, with its own models too",
    async () => {
      const { url } = await serve();
      const path = await workspace();
      const env = { PATH: process.env.PATH, HOME: `${path}/home` };
      const provider = `model_providers.flint={name="flint",base_url="${url}/v1",wire_api="responses"}`;
      const settings = ["-s", "danger-full-access", "-c", "model_provider=flint", "-c", provider];
      const ask = (prompt: string, ...more: string[]) =>
        run(codex ?? "", ["exec", "--skip-git-repo-check", ...settings, ...more, prompt], path, env);
      for (const model of [[], ["-m", "flint-offline"]]) {
        expect(await ask("run `echo $((40 + 2))`", ...model)).toMatchObject({
          code: 0,
          stdout: expect.stringContaining("42"),
        });
      }
      expect(await ask("create hello.py that prints hi")).toMatchObject({ code: 0 });
      expect(await ask("replace hi with hello in hello.py")).toMatchObject({ code: 0 });
      expect(await readFile(`${path}/hello.py`, "utf8")).toBe('print("hello")\n');
    },
    120_000,
  );
});
