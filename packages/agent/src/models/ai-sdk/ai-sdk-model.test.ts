import { TestClock } from "@flint/testkit";
import { afterEach, describe, expect, test } from "vitest";
import type { Message, ModelPart } from "../model.ts";
import { type Answer, FakeEndpoint, refuse, stream } from "../testing/fake-endpoint.ts";
import { bodyOf, HELLO, ModelFixture, requestWith, textIn } from "../testing/model-fixture.ts";
import { CHAT, MESSAGES, RESPONSES, type WireShape } from "../testing/wire-formats.ts";

const open: ModelFixture[] = [];
afterEach(async () => {
  for (const opened of open.splice(0)) await opened.close();
});

type Options = Parameters<typeof ModelFixture.start>[3];

async function fixture(shape: WireShape, answers: readonly Answer[], options: Options = {}) {
  const started = await ModelFixture.start(new TestClock(), shape, answers, options);
  open.push(started);
  return started;
}

/** The messages of a step, as the loop stores them. */
function storedMessages(parts: readonly ModelPart[]): Message[] {
  const calls = parts.flatMap((part) => (part.type === "tool-call" ? [part] : []));
  const providerMetadata = parts.find((part) => part.type === "provider-metadata")?.providerMetadata;
  const text = textIn(parts, "text-delta");
  return [
    { role: "assistant", text, calls, ...(providerMetadata === undefined ? {} : { providerMetadata }) },
    ...calls.map(({ callId, tool }) => ({ role: "tool", callId, tool, status: "done", text: "ok" }) as const),
  ];
}

const CALL = { call: "call_1", tool: "shell", args: '{"command":"ls"}' };

describe("signed thinking", () => {
  const done = { text: "Done." };

  test("goes back to Claude unchanged and in order", async () => {
    const first = MESSAGES.answer({ thought: "One." }, { text: "Look." }, { thought: "Two." }, CALL);
    const setup = await fixture(MESSAGES, [stream(first), stream(MESSAGES.answer(done))]);
    await setup.all(requestWith([...HELLO, ...storedMessages(await setup.all())]));
    expect(setup.endpoint.requests[1]?.body).toMatchObject({
      messages: [
        { role: "user" },
        {
          role: "assistant",
          content: [
            { type: "thinking", thinking: "One.", signature: "sealed" },
            { type: "text", text: "Look." },
            { type: "thinking", thinking: "Two.", signature: "sealed" },
            { type: "tool_use", id: "call_1", name: "shell", input: { command: "ls" } },
          ],
        },
        { role: "user", content: [{ type: "tool_result", tool_use_id: "call_1" }] },
      ],
    });
  });

  test("goes back to OpenAI encrypted, because nothing is stored there", async () => {
    const first = RESPONSES.answer({ thought: "One." }, CALL);
    const setup = await fixture(RESPONSES, [stream(first), stream(RESPONSES.answer(done))]);
    await setup.all(requestWith([...HELLO, ...storedMessages(await setup.all())]));
    expect(setup.endpoint.requests[0]?.body).toMatchObject({
      store: false,
      include: ["reasoning.encrypted_content"],
    });
    const body = setup.endpoint.requests[1]?.body;
    expect(body).toMatchObject({
      input: [
        { role: "developer" },
        { role: "user" },
        { type: "reasoning", encrypted_content: "sealed", summary: [{ text: "One." }] },
        { type: "function_call", call_id: "call_1" },
        { type: "function_call_output", call_id: "call_1", output: "ok" },
      ],
    });
  });

  test("is not sent to another model", async () => {
    const claude = await fixture(MESSAGES, [stream(MESSAGES.answer({ thought: "One." }, { text: "Hi." }))]);
    const stored = storedMessages(await claude.all());
    const other = await fixture(CHAT, [stream(CHAT.answer(done))]);
    await other.all(requestWith([...HELLO, ...stored, { role: "user", text: "Go on" }]));
    expect(bodyOf(other.endpoint.requests[0])).toContain("Hi.");
    expect(bodyOf(other.endpoint.requests[0])).not.toContain("One.");
  });
});

describe("the call options", () => {
  const outputSchema = { type: "object", properties: { name: { type: "string" } } };

  test("requests a schema by API if the endpoint enforces it, else by instruction", async () => {
    const request = requestWith(HELLO, { outputSchema });
    const answers = (shape: WireShape) => [stream(shape.answer({ text: "{}" }))];
    const gpt = await fixture(RESPONSES, answers(RESPONSES));
    await gpt.all(request);
    expect(gpt.endpoint.requests[0]?.body).toMatchObject({
      text: { format: { type: "json_schema", strict: false, schema: outputSchema } },
    });
    const claude = await fixture(MESSAGES, answers(MESSAGES));
    await claude.all(request);
    expect(claude.endpoint.requests[0]?.body).toMatchObject({
      output_config: { format: { type: "json_schema" } },
    });
    const local = await fixture(CHAT, answers(CHAT));
    await local.all(request);
    expect(local.endpoint.requests[0]?.body).toMatchObject({
      messages: [{ role: "system", content: expect.stringContaining("matches this JSON Schema") }, {}],
    });
  });

  test("sends how much of the reasoning OpenAI's models summarize", async () => {
    const summaryOf = async (summary: "concise" | "none") => {
      const gpt = await fixture(RESPONSES, [stream(RESPONSES.answer({ text: "Hi" }))]);
      await gpt.all(requestWith(HELLO, { reasoningEffort: "low", summary }));
      return Object(gpt.endpoint.requests[0]?.body).reasoning;
    };
    expect(await summaryOf("concise")).toEqual({ effort: "low", summary: "concise" });
    expect(await summaryOf("none")).toEqual({ effort: "low" });
  });

  test("sends effort and temperature to models that have them", async () => {
    const request = requestWith(HELLO, { reasoningEffort: "low" });
    const gpt = await fixture(RESPONSES, [stream(RESPONSES.answer({ text: "Hi" }))]);
    await gpt.all(request);
    expect(gpt.endpoint.requests[0]?.body).toMatchObject({ reasoning: { effort: "low", summary: "auto" } });
    expect(gpt.endpoint.requests[0]?.body).not.toHaveProperty("temperature");
    const claude = await fixture(MESSAGES, [stream(MESSAGES.answer({ text: "Hi" }))]);
    await claude.all(request);
    expect(claude.endpoint.requests[0]?.body).toMatchObject({
      thinking: { type: "adaptive" },
      output_config: { effort: "low" },
      system: [{ text: "Be brief.", cache_control: { type: "ephemeral" } }],
    });
    const old = { id: "flint/anthropic/claude-haiku-4-5" };
    const budgeted = await fixture(MESSAGES, [stream(MESSAGES.answer({ text: "Hi" }))], old);
    await budgeted.all(request);
    expect(budgeted.endpoint.requests[0]?.body).toMatchObject({
      thinking: { type: "enabled", budget_tokens: 4096 },
    });
    const local = await fixture(CHAT, [stream(CHAT.answer({ text: "Hi" }))]);
    await local.all(request);
    expect(local.endpoint.requests[0]?.body).toMatchObject({
      temperature: 0.3,
      stream_options: { include_usage: true },
    });
    expect(local.endpoint.requests[0]?.body).not.toHaveProperty("reasoning_effort");
  });

  test("leaves out an optional parameter after the endpoint rejected it", async () => {
    const refusal = {
      error: { message: "Verify your organization", param: "reasoning.summary", code: "unsupported_value" },
    };
    const setup = await fixture(RESPONSES, [refuse(400, refusal), stream(RESPONSES.answer({ text: "Hi" }))]);
    expect(textIn(await setup.all(), "text-delta")).toBe("Hi");
    await setup.all();
    const summaries = setup.endpoint.requests.map((request) => bodyOf(request).includes('"summary":"auto"'));
    expect(summaries).toEqual([true, false, false]);
  });

  test("calls a tool with an unusual name, and sends no key if there is none", async () => {
    const tools = [{ name: "files.read it", description: "Reads.", parameters: { type: "object" } }];
    const call = { call: "c", tool: "files_read_it", args: "{}" };
    const setup = await fixture(CHAT, [stream(CHAT.answer(call))], { key: "" });
    const parts = await setup.all(requestWith(HELLO, { tools }));
    expect(parts).toContainEqual({ type: "tool-call", callId: "c", tool: "files.read it", input: {} });
    expect(setup.endpoint.requests[0]?.headers).not.toHaveProperty("authorization");
  });
});

describe("tries", () => {
  test("gives up after the fifth attempt", async () => {
    const setup = await fixture(CHAT, [refuse(503, "<html>down</html>")]);
    const error = await setup.failure();
    expect(error).toMatchObject({
      message: '"local" returned a server error (HTTP 503). Gave up after 5 attempts.',
      errorInfo: "InternalServerError",
      httpStatusCode: 503,
    });
    expect(setup.endpoint.requests).toHaveLength(5);
  });

  test("does not retry if the endpoint asks for a longer delay", async () => {
    const setup = await fixture(MESSAGES, [
      refuse(429, MESSAGES.error("rate_limit_error", "Daily limit"), { "retry-after": "300" }),
    ]);
    expect(await setup.failure()).toMatchObject({
      errorInfo: "UsageLimitExceeded",
      message: expect.stringMatching(/Daily limit\. It asks to wait 5 min/),
    });
    expect(setup.endpoint.requests).toHaveLength(1);
  });

  test("reports the limits of a rejected request before it fails, and those that are nearly used", async () => {
    const counted = {
      "anthropic-ratelimit-requests-limit": "50",
      "anthropic-ratelimit-requests-remaining": "0",
    };
    const setup = await fixture(MESSAGES, [
      refuse(429, MESSAGES.error("rate_limit_error", "Daily limit"), { ...counted, "retry-after": "300" }),
    ]);
    const parts = setup.model
      .stream(requestWith(HELLO), new AbortController().signal)
      [Symbol.asyncIterator]();
    expect((await parts.next()).value).toMatchObject({
      type: "limits",
      limits: [
        { account: "Anthropic", window: "requests", usedPercent: 100, status: "reached", source: "header" },
        { window: "rate limit", resetsAtMs: setup.clock.now() + 300_000, status: "reached" },
      ],
    });
    await expect(parts.next()).rejects.toThrow(/Daily limit/);
  });

  test("does not retry if the account is out of credit", async () => {
    const setup = await fixture(RESPONSES, [refuse(429, RESPONSES.error("insufficient_quota", "Pay first"))]);
    expect(await setup.failure()).toMatchObject({ errorInfo: "UsageLimitExceeded" });
    expect(setup.endpoint.requests).toHaveLength(1);
  });

  test("retries if the stream reports an overloaded endpoint", async () => {
    const error = `event: error\ndata: ${JSON.stringify(MESSAGES.error("overloaded_error", "Overloaded"))}\n\n`;
    const setup = await fixture(MESSAGES, [stream(error), stream(MESSAGES.answer({ text: "Hi" }))]);
    const parts = await setup.all();
    expect(parts[0]).toMatchObject({ type: "retry", error: { httpStatusCode: 529 } });
    expect(textIn(parts, "text-delta")).toBe("Hi");
  });

  test("retries a failed connection until the turn is interrupted", async () => {
    const { endpoint, model, clock } = await fixture(CHAT, [], { id: "flint/local/m" });
    open.splice(0);
    await endpoint.close();
    const again = new AbortController();
    const iterator = model.stream(requestWith(HELLO), again.signal)[Symbol.asyncIterator]();
    const { value } = await iterator.next();
    expect(value).toMatchObject({
      type: "retry",
      error: { message: expect.stringMatching(/cannot be reached: .*ECONNREFUSED/) },
    });
    expect(clock.now()).toBe(Date.UTC(2030, 0, 1));
    const rest = iterator.next();
    again.abort();
    expect(await rest).toMatchObject({ done: true });
  });
});

test("reads a response of the Responses API that leaves out the time, the id and the model", async () => {
  const created = '"response":{"id":"resp_1","created_at":1,"model":"m"}';
  const bare = RESPONSES.answer({ text: "Hi" }, CALL).replace(created, '"response":{}');
  expect(bare).not.toContain("created_at");
  const parts = await (await fixture(RESPONSES, [stream(bare)])).all();
  expect(textIn(parts, "text-delta")).toBe("Hi");
  expect(parts).toContainEqual(expect.objectContaining({ type: "tool-call", callId: "call_1" }));
});

test("does not send a key to another URL", async () => {
  const attacker = await FakeEndpoint.start(stream(CHAT.answer({ text: "Thanks" })));
  const setup = await fixture(CHAT, [
    refuse(307, "", { location: `${attacker.url}/v1/chat/completions?x=1` }),
  ]);
  expect(await setup.failure()).toMatchObject({
    errorInfo: "BadRequest",
    message: expect.stringContaining(`redirects to ${attacker.url}/v1/chat/completions.`),
  });
  expect(attacker.requests).toEqual([]);
  await attacker.close();
});

test("names the variable to set for a rejected key", async () => {
  const locked = refuse(401, MESSAGES.error("authentication_error", "invalid x-api-key"));
  expect(await (await fixture(MESSAGES, [locked])).failure()).toMatchObject({
    message:
      "Anthropic rejected the key (HTTP 401): invalid x-api-key. Set ANTHROPIC_API_KEY to a valid key.",
  });
});

test("takes neither URL nor key from the environment", async () => {
  const attacker = await FakeEndpoint.start(stream(MESSAGES.answer({ text: "Thanks" })));
  const before = { ...process.env };
  Object.assign(process.env, {
    ANTHROPIC_BASE_URL: attacker.url,
    ANTHROPIC_API_KEY: "sk-of-the-environment",
  });
  try {
    const setup = await fixture(MESSAGES, [stream(MESSAGES.answer({ text: "Hi" }))], { key: "" });
    expect(textIn(await setup.all(), "text-delta")).toBe("Hi");
    expect(setup.endpoint.requests[0]?.headers).not.toHaveProperty("x-api-key");
    expect(attacker.requests).toEqual([]);
  } finally {
    process.env = before;
    await attacker.close();
  }
});

describe("the input of a call", () => {
  const write = { call: "call_1", tool: "write_file", args: '{"path":"a"}' };
  const inputsIn = (parts: readonly ModelPart[]) => parts.filter(({ type }) => type === "tool-input");

  test.each([CHAT, RESPONSES, MESSAGES])("is passed on while $kind streams it [S0-58]", async (shape) => {
    const setup = await fixture(shape, [stream(shape.answer(write))]);
    const parts = await setup.all();
    expect(inputsIn(parts).map((part) => ({ ...part, json: "" }))).toContainEqual({
      ...{ type: "tool-input", callId: "call_1", tool: "write_file", json: "" },
    });
    expect(
      inputsIn(parts)
        .map((part) => Reflect.get(part, "json"))
        .join(""),
    ).toBe(write.args);
    expect(parts.findIndex(({ type }) => type === "tool-input")).toBeLessThan(
      parts.findIndex(({ type }) => type === "tool-call"),
    );
  });

  test("does not keep a response that broke off from being asked for again", async () => {
    const setup = await fixture(CHAT, [stream(CHAT.half(write)), stream(CHAT.answer({ text: "Again." }))]);
    const parts = await setup.all();
    expect(parts.map(({ type }) => type)).toEqual(
      expect.arrayContaining(["tool-input", "retry", "text-delta", "finish"]),
    );
    expect(parts.some(({ type }) => type === "tool-call")).toBe(false);
  });

  test("belongs to its own call where an endpoint sends one id for several", async () => {
    const other = { ...write, args: '{"path":"b"}' };
    const setup = await fixture(CHAT, [stream(CHAT.answer(write, other))]);
    const parts = await setup.all();
    const calls = parts.flatMap((part) => (part.type === "tool-call" ? [part] : []));
    expect(calls.map(({ input }) => input)).toEqual([{ path: "a" }, { path: "b" }]);
    for (const { callId, input } of calls) {
      const own = parts.flatMap((part) =>
        part.type === "tool-input" && part.callId === callId ? [part.json] : [],
      );
      expect(own.join("")).toBe(JSON.stringify(input));
    }
  });
});
