import { writeFile } from "node:fs/promises";
import { createAnthropic } from "@ai-sdk/anthropic";
import { createOpenAI } from "@ai-sdk/openai";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { temporaryFolder } from "@flint/testkit";
import { generateText, jsonSchema, type LanguageModel, stepCountIs, streamText, tool } from "ai";
import { describe, expect, test } from "vitest";
import { run, serve } from "./model-serve.ts";
import { FLINT } from "./server.ts";

describe("flint model serve", () => {
  test("listens on loopback until it is stopped", async () => {
    const { url, child, ended } = await serve();
    expect((await fetch(`${url}/v1/models`)).status).toBe(200);
    child.kill("SIGTERM");
    expect(await ended).toEqual([0, null]);
  });

  test("reports errors in its options and its script", async () => {
    const { path } = await temporaryFolder();
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
