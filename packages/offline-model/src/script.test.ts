import { writeFileSync } from "node:fs";
import type { ModelPart, ModelRequest } from "@flint/agent/model";
import { settled, TestClock, temporaryFolder } from "@flint/testkit";
import { describe, expect, test } from "vitest";
import { OfflineModel, type OfflineOptions } from "./offline-model.ts";
import { parseScript, ScriptedFailure } from "./script.ts";

function request(text: string): ModelRequest {
  return {
    messages: [{ role: "user", text }],
    tools: [],
    purpose: "prompt",
    review: undefined,
    outputSchema: undefined,
    temperature: 0,
    reasoningEffort: undefined,
  };
}

async function play(
  model: OfflineModel,
  text = "go",
  signal = new AbortController().signal,
): Promise<ModelPart[]> {
  const parts: ModelPart[] = [];
  for await (const part of model.stream(request(text), signal)) parts.push(part);
  return parts;
}

const textOf = (parts: readonly ModelPart[]) =>
  parts.map((part) => (part.type === "text-delta" ? part.text : "")).join("");

async function scripted(steps: unknown, options: OfflineOptions = {}): Promise<OfflineModel> {
  const folder = await temporaryFolder();
  const path = folder.join("script.json");
  writeFileSync(path, typeof steps === "string" ? steps : JSON.stringify(steps));
  return new OfflineModel({ script: path, ...options });
}

describe("a script", () => {
  test("that states the usage first reports it once, before anything else", async () => {
    const usage = { inputTokens: 7, outputTokens: 2 };
    const model = await scripted([[{ usage }, { text: "Done." }]]);
    expect(await play(model)).toEqual([
      { type: "usage", usage },
      { type: "text-delta", text: "Done." },
      { type: "finish", reason: "stop" },
    ]);
  });

  test("plays one step per call", async () => {
    const model = await scripted([
      [{ reasoning: "Let me see." }, { text: "I look. " }, { call: "shell", input: { command: "ls" } }],
      [{ text: "Done." }, { usage: { inputTokens: 7, outputTokens: 2 } }, { finish: "length" }],
    ]);
    const first = await play(model);
    expect(textOf(first)).toBe("I look. ");
    expect(first.filter(({ type }) => type === "tool-call")).toEqual([
      { type: "tool-call", callId: "script_call_1", tool: "shell", input: { command: "ls" } },
    ]);
    expect(first.slice(-2)).toEqual([
      { type: "usage", usage: { inputTokens: 1, outputTokens: expect.any(Number), thinkingTokens: 3 } },
      { type: "finish", reason: "tools" },
    ]);
    expect(await play(model)).toEqual([
      { type: "text-delta", text: "Done." },
      { type: "usage", usage: { inputTokens: 7, outputTokens: 2 } },
      { type: "finish", reason: "length" },
    ]);
    expect(textOf(await play(model))).toMatch(
      /^The script .*script\.json has no step left for this request\.$/,
    );
  });

  test("plays a step with a condition only for a matching message, and only once", async () => {
    const model = await scripted(
      '{"when":"deploy","parts":[{"text":"D"}]}\n{"parts":[{"text":"1"}]}\n\n[{"text":"2"}]\n',
    );
    expect(textOf(await play(model, "hello"))).toBe("1");
    expect(textOf(await play(model, "please DEPLOY it"))).toBe("D");
    expect(textOf(await play(model, "please deploy it"))).toBe("2");
  });

  test("repeats a text", async () => {
    const model = await scripted([[{ repeat: "a line\n", times: 1000 }]]);
    expect(textOf(await play(model))).toBe("a line\n".repeat(1000));
  });

  test("waits by the injected clock, until it is aborted", async () => {
    const clock = new TestClock();
    const model = await scripted([[{ text: "a" }, { delay: 500 }, { text: "b" }], [{ delay: 9000 }]], {
      clock,
    });
    const stop = new AbortController();
    const playing = play(model);
    await model.load();
    await settled();
    await settled();
    expect(clock.pending).toBe(1);
    await clock.advance(500);
    expect(textOf(await playing)).toBe("ab");
    const stopped = play(model, "go", stop.signal);
    await settled();
    stop.abort();
    expect(await stopped).toEqual([]);
    expect(clock.pending).toBe(0);
  });

  test("fails, with or without a retry", async () => {
    const clock = new TestClock();
    const limited = { status: 429, message: "Too much.", retry_after: 2 };
    const model = await scripted(
      [[{ error: limited }], [{ text: "ok" }], [{ text: "half" }, { cut: true }]],
      { clock },
    );
    const playing = play(model);
    await model.load();
    await settled();
    await settled();
    await clock.advance(2000);
    const parts = await playing;
    expect(parts[0]).toEqual({
      type: "retry",
      error: { message: "Too much.", errorInfo: "AgentFailed", httpStatusCode: 429 },
    });
    expect(textOf(parts)).toBe("ok");
    await expect(play(model)).rejects.toThrow("cut off");
    const left = await scripted([[{ error: limited }]], { throwsRetries: true });
    await expect(play(left)).rejects.toThrow(ScriptedFailure);
    const plain = await scripted([[{ error: { message: "No." } }]]);
    await expect(play(plain)).rejects.toThrow("No.");
  });

  test("can send arguments that are not JSON", async () => {
    const model = await scripted([[{ call: "shell", raw: "{oops", id: "c1" }]]);
    expect((await play(model))[0]).toMatchObject({
      callId: "c1",
      inputError: expect.stringContaining("{oops"),
    });
  });
});

describe("an error in a script names the file, the step and the field", () => {
  test.each([
    ["[[{}]]", "s.json, step 1: [0] has none of the fields text, reasoning,"],
    ['[[{"text":5}]]', "s.json, step 1: [0].text: Invalid input: expected string, received number."],
    [
      '[[{"text":"a"}],[{"text":"a"},{"delay":-1}]]',
      "s.json, step 2: [1].delay: Too small: expected number to be >=0.",
    ],
    ['[[{"text":"a","time":2}]]', 's.json, step 1: [0]: Unrecognized key: "time".'],
    ['[{"when":"(","parts":[]}]', "s.json, step 1: when is not a regular expression: ("],
    ['[{"when":"x"}]', "s.json, step 1: parts: Invalid input: expected array, received undefined."],
    ['{"steps":5}', "s.json: steps must be an array."],
    [
      '[[{"error":{"status":429}}]]',
      "s.json, step 1: [0].error.message: Invalid input: expected string, received undefined.",
    ],
    ['[[{"usage":{"tokens":1}}]]', 's.json, step 1: [0].usage: Unrecognized key: "tokens".'],
    ['[[{"finish":"never"}]]', "s.json, step 1: [0].finish: Invalid option: expected one of"],
    ['[[{"cut":false}]]', "s.json, step 1: [0].cut: Invalid input: expected true."],
    ['{"parts":[]}\nnot json', "s.json, line 2 is not JSON."],
    ["5", "s.json, step 1: Invalid input: expected object, received number."],
  ])("%s", (text, message) => {
    expect(() => parseScript(text, "s.json")).toThrow(message);
  });

  test("names a file that does not exist", async () => {
    await expect(play(new OfflineModel({ script: "/nowhere/s.json" }))).rejects.toThrow(
      "The script /nowhere/s.json cannot be read",
    );
  });
});

test("accepts a single step, a list of steps and an object with steps", () => {
  const one = [{ when: undefined, parts: [{ text: "a" }] }];
  for (const text of [
    '[{"text":"a"}]',
    '[[{"text":"a"}]]',
    '{"parts":[{"text":"a"}]}',
    '{"steps":[[{"text":"a"}]]}',
  ]) {
    expect(parseScript(text, "s.json")).toEqual(one);
  }
  expect(parseScript("[]", "s.json")).toEqual([]);
});
