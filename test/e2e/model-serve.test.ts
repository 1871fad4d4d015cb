import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { createInterface } from "node:readline";
import { createAnthropic } from "@ai-sdk/anthropic";
import { createOpenAI } from "@ai-sdk/openai";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { agentProgram, needs, temporaryFolder } from "@flint/testkit";
import { generateText, jsonSchema, type LanguageModel, stepCountIs, streamText, tool } from "ai";
import { describe, expect, onTestFinished, test } from "vitest";
import { FLINT } from "./server.ts";

interface Ran {
  readonly code: number | string;
  readonly stdout: string;
  readonly stderr: string;
}

function run(program: string, args: readonly string[], cwd: string, env: NodeJS.ProcessEnv): Promise<Ran> {
  return new Promise((resolve) => {
    const child = execFile(program, [...args], { cwd, env, timeout: 60_000 }, (error, stdout, stderr) =>
      resolve({ code: error?.code ?? 0, stdout, stderr }),
    );
    child.stdin?.end();
  });
}

/** Starts `flint model serve` and gives where it listens, and what ends it. */
async function serve(...args: string[]) {
  const child = spawn(process.execPath, [FLINT, "model", "serve", ...args], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const ended = once(child, "exit");
  onTestFinished(async () => {
    child.kill("SIGKILL");
    await ended;
  });
  const [line] = await once(createInterface({ input: child.stdout }), "line");
  expect(line).toMatch(/^listening on http:\/\/127\.0\.0\.1:\d+$/);
  return { url: String(line).slice("listening on ".length), child, ended };
}

async function workspace(): Promise<string> {
  const { path } = await temporaryFolder();
  await mkdir(`${path}/home`);
  await writeFile(`${path}/README.md`, "# Sample\n");
  return path;
}

describe("flint model serve", () => {
  test("listens on loopback until it is stopped", async () => {
    const { url, child, ended } = await serve();
    expect((await fetch(`${url}/v1/models`)).status).toBe(200);
    child.kill("SIGTERM");
    expect(await ended).toEqual([0, null]);
  });

  test("reports errors in its options and its script", async () => {
    const path = await workspace();
    await writeFile(`${path}/bad.json`, '[[{"txt":"x"}]]');
    const flint = (...args: string[]) => run(process.execPath, [FLINT, "model", "serve", ...args], path, {});
    expect(await flint("--port", "many")).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("--port"),
    });
    expect(await flint("--script", "bad.json")).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/bad\.json, step 1: \[0\] has none of the fields/),
    });
  });
});

describe("clients of common libraries", () => {
  const clients: Readonly<Record<string, (url: string) => LanguageModel>> = {
    Anthropic: (url) => createAnthropic({ baseURL: `${url}/v1`, apiKey: "none" })("claude-sonnet-4-5"),
    "OpenAI Responses": (url) => createOpenAI({ baseURL: `${url}/v1`, apiKey: "none" }).responses("gpt-5"),
    "OpenAI chat": (url) => createOpenAI({ baseURL: `${url}/v1`, apiKey: "none" }).chat("gpt-5"),
    "OpenAI compatible": (url) => createOpenAICompatible({ name: "flint", baseURL: `${url}/v1` })("any"),
  };
  const bash = tool({
    description: "Runs a command.",
    inputSchema: jsonSchema<{ command: string }>({
      type: "object",
      properties: { command: { type: "string" } },
      required: ["command"],
    }),
    execute: async ({ command }) => `ran ${command}`,
  });
  const request = { prompt: "run `date`", tools: { bash }, stopWhen: stepCountIs(5) };

  test.each(Object.keys(clients))(
    "%s: calls a tool and uses its result, whole and streamed",
    async (name) => {
      const { url } = await serve();
      const model = clients[name]?.(url) ?? "";
      const whole = await generateText({ model, ...request });
      expect(whole.text).toContain("ran date");
      expect(whole.steps.flatMap(({ toolCalls }) => toolCalls.map(({ input }) => input))).toEqual([
        { command: "date" },
      ]);
      expect(whole.totalUsage.outputTokens).toBeGreaterThan(5);
      const streamed = streamText({ model, ...request });
      let deltas = 0;
      for await (const _ of streamed.textStream) deltas += 1;
      expect(deltas).toBeGreaterThan(3);
      expect(await streamed.text).toBe(whole.text);
      expect(await streamed.finishReason).toBe("stop");
    },
  );
});

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
