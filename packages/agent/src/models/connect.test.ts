import { TestClock } from "@flint/testkit";
import { afterEach, describe, expect, test } from "vitest";
import type { Limits } from "./ai-sdk/ai-sdk-model.ts";
import { type Answer, abort, begin, flood, NO_RESPONSE, refuse, stream } from "./testing/fake-endpoint.ts";
import { bodyOf, HELLO, KEY, ModelFixture, requestWith, textIn } from "./testing/model-fixture.ts";
import { CHAT, MESSAGES, RESPONSES, type WireShape } from "./testing/wire-formats.ts";

const NAMES = { compatible: "local-model", openai: "gpt-6.1-sol", anthropic: "claude-opus-5-5" } as const;

const open: ModelFixture[] = [];
afterEach(async () => {
  for (const opened of open.splice(0)) await opened.close();
});

async function fixture(shape: WireShape, answers: readonly Answer[], limits: Partial<Limits> = {}) {
  const started = await ModelFixture.start(new TestClock(), shape, answers, limits);
  open.push(started);
  return started;
}

describe.each([CHAT, RESPONSES, MESSAGES])("a model with the $kind API", (shape) => {
  test("streams text, reasoning, tool calls and usage", async () => {
    const call = { call: "call_1", tool: "shell", args: '{"command":"ls"}' };
    const setup = await fixture(shape, [
      stream(shape.answer({ thought: "Hm." }, { text: "Let me " }, { text: "look." }, call)),
    ]);
    const parts = await setup.all();
    expect(textIn(parts, "text-delta")).toBe("Let me look.");
    expect(textIn(parts, "reasoning-delta")).toBe("Hm.");
    expect(parts.filter(({ type }) => type === "tool-call")).toEqual([
      { type: "tool-call", callId: "call_1", tool: "shell", input: { command: "ls" } },
    ]);
    expect(parts.find(({ type }) => type === "usage")).toEqual({
      type: "usage",
      usage: { inputTokens: 60, outputTokens: 15, thinkingTokens: 5, cacheReadTokens: 40 },
    });
    expect(parts.at(-1)).toEqual({ type: "finish", reason: "tools" });
    const [request] = setup.endpoint.requests;
    expect(request?.body).toMatchObject({ model: NAMES[shape.kind], stream: true });
    expect(bodyOf(request)).toContain("Be brief.");
    const key = shape.kind === "anthropic" ? request?.headers["x-api-key"] : request?.headers.authorization;
    expect(key).toContain(KEY);
  });

  test("gets images and the results of its calls", async () => {
    const setup = await fixture(shape, [stream(shape.answer({ text: "A cat." }))]);
    const parts = await setup.all(
      requestWith([
        { role: "user", text: "What is this?", images: [{ mediaType: "image/png", base64: "aGVsbG8=" }] },
        { role: "assistant", text: "", calls: [{ callId: "c:1", tool: "shell", input: { command: "ls" } }] },
        { role: "tool", callId: "c:1", tool: "shell", status: "failed", text: "no such file", exitCode: 2 },
      ]),
    );
    expect(parts.at(-1)).toEqual({ type: "finish", reason: "stop" });
    const body = bodyOf(setup.endpoint.requests[0]);
    expect(body).toContain("aGVsbG8=");
    expect(body).toContain("no such file\\n[exit code 2]");
    expect(body).not.toContain("c:1");
  });

  test("repairs malformed text in both directions", async () => {
    const setup = await fixture(shape, [stream(shape.answer({ text: "a\ud83d\ude00\0b" }))]);
    const parts = await setup.all(requestWith([{ role: "user", text: "half \ud83d and nul \0" }]));
    expect(textIn(parts, "text-delta")).toBe("a\ud83d\ude00\ufffdb");
    expect(bodyOf(setup.endpoint.requests[0])).toContain("half \ufffd and nul \ufffd");
  });

  test("retries after 429 with the requested delay", async () => {
    const limited = refuse(429, shape.error("rate_limit_error", "Slow down"), { "retry-after": "7" });
    const setup = await fixture(shape, [limited, stream(shape.answer({ text: "Now." }))]);
    const parts = await setup.all();
    expect(parts.find(({ type }) => type === "retry")).toMatchObject({
      error: {
        errorInfo: "UsageLimitExceeded",
        httpStatusCode: 429,
        message: expect.stringContaining("in 7 s"),
      },
    });
    expect(textIn(parts, "text-delta")).toBe("Now.");
  });

  test.each([500, 529])("retries after %d", async (status) => {
    const broken = refuse(status, shape.error("overloaded_error", "Overloaded"));
    const setup = await fixture(shape, [broken, broken, stream(shape.answer({ text: "Back." }))]);
    const parts = await setup.all();
    const retries = parts.filter(({ type }) => type === "retry");
    expect(retries).toHaveLength(2);
    expect(retries[0]).toMatchObject({ error: { errorInfo: "InternalServerError", httpStatusCode: status } });
    expect(textIn(parts, "text-delta")).toBe("Back.");
  });

  test("fails clearly when it rejects the request, the key or the length", async () => {
    const bad = await fixture(shape, [refuse(400, shape.error("invalid_request_error", `No ${KEY} here`))]);
    expect(await bad.failure()).toMatchObject({
      errorInfo: "BadRequest",
      httpStatusCode: 400,
      message: expect.stringContaining("No [key] here"),
    });
    const locked = await fixture(shape, [refuse(401, shape.error("authentication_error", "bad key"))]);
    expect(await locked.failure()).toMatchObject({ errorInfo: "Unauthorized", httpStatusCode: 401 });
    const long = await fixture(shape, [
      refuse(400, shape.error("invalid_request_error", "prompt is too long: 9 > 8")),
    ]);
    expect(await long.failure()).toMatchObject({ errorInfo: "ContextWindowExceeded" });
    expect(long.endpoint.requests).toHaveLength(1);
  });

  test("fails clearly when it sends garbage", async () => {
    const page = await fixture(shape, [stream("<html>Welcome</html>")]);
    expect(await page.failure()).toMatchObject({ message: expect.stringContaining(page.endpoint.url) });
    const noise = await fixture(shape, [stream("data: {no json\n\ndata: 7\n\n")]);
    expect(await noise.failure()).toMatchObject({
      errorInfo: "InternalServerError",
      message: expect.stringContaining("not a model response"),
    });
  });

  test("fails clearly when its response is cut off", async () => {
    const half = shape.half({ text: "Half a" });
    for (const answer of [stream(half), abort(half)]) {
      const setup = await fixture(shape, [answer]);
      expect(await setup.failure()).toMatchObject({ message: expect.stringContaining("was cut off") });
      // Text was already streamed: a retry would repeat it.
      expect(setup.endpoint.requests).toHaveLength(1);
    }
  });

  test("retries when the connection breaks before the response", async () => {
    const dead: Answer = (response) => response.socket?.destroy();
    const setup = await fixture(shape, [dead, stream(""), stream(shape.answer({ text: "Here." }))]);
    const parts = await setup.all();
    expect(parts.filter(({ type }) => type === "retry")).toHaveLength(2);
    expect(textIn(parts, "text-delta")).toBe("Here.");
  });

  test("fails when it is silent for too long, before and within a response", async () => {
    for (const answer of [NO_RESPONSE, begin(shape.half({ text: "Well" }))]) {
      const setup = await fixture(shape, [answer], { idleMs: 120_000 });
      const iterator = setup.model
        .stream(requestWith(HELLO), new AbortController().signal)
        [Symbol.asyncIterator]();
      const came = setup.endpoint.next();
      let step = iterator.next();
      const request = await came;
      if (answer !== NO_RESPONSE) {
        expect((await step).value).toEqual({ type: "text-delta", text: "Well" });
        step = iterator.next();
      }
      const ended = expect(step).rejects.toThrow(/silent for 120 seconds/);
      await setup.clock.advance(120_000);
      await ended;
      await request.gone;
    }
  });

  test("fails when its response is empty, except after a tool result", async () => {
    const nothing = stream(shape.answer());
    expect(await (await fixture(shape, [nothing])).failure()).toMatchObject({
      message: expect.stringContaining("empty"),
    });
    const silent = await fixture(shape, [nothing]);
    const parts = await silent.all(
      requestWith([
        { role: "user", text: "Do it" },
        { role: "assistant", text: "", calls: [{ callId: "a", tool: "shell", input: {} }] },
        { role: "tool", callId: "a", tool: "shell", status: "done", text: "" },
      ]),
    );
    expect(parts.at(-1)).toEqual({ type: "finish", reason: "stop" });
  });

  test("may leave out what nothing depends on", async () => {
    if (shape.kind !== "openai") return;
    const bare = [
      { type: "response.created", response: {} },
      { type: "response.output_item.added", item: { type: "message" } },
      { type: "response.output_text.delta", delta: "Hi" },
      { type: "response.output_item.done", item: { type: "message" } },
      { type: "response.output_item.added", item: { type: "function_call", name: "shell" } },
      { type: "response.output_item.done", item: { type: "function_call", name: "shell", arguments: "{}" } },
      { type: "response.completed", response: {} },
    ];
    const text = bare.map((event) => `data: ${JSON.stringify(event)}\n\n`).join("");
    const parts = await (await fixture(shape, [stream(text)])).all();
    expect(parts).toMatchObject([
      { type: "text-delta", text: "Hi" },
      { type: "tool-call", tool: "shell", input: {} },
      ...parts.slice(2, -1),
      { type: "finish", reason: "tools" },
    ]);
  });

  test("gets an error when its arguments are not a JSON object", async () => {
    const calls = ["{not json", "[1]", ""].map((args, at) => ({ call: `c${at}`, tool: "shell", args }));
    const parts = await (await fixture(shape, [stream(shape.answer(...calls))])).all();
    expect(
      parts.flatMap((part) =>
        part.type === "tool-call" ? [[part.callId, part.input, part.inputError]] : [],
      ),
    ).toEqual([
      ["c0", {}, expect.stringContaining("not valid JSON")],
      ["c1", {}, expect.stringContaining("must be a JSON object")],
      ["c2", {}, undefined],
    ]);
  });

  test("is stopped when it sends too much", async () => {
    const text = flood(shape.half(), shape.more({ text: "x".repeat(1000) }));
    const wordy = await fixture(shape, [text], { textCharacters: 10_000 });
    expect(await wordy.failure()).toMatchObject({
      message: expect.stringContaining("10000 characters of text"),
    });
    const args = flood(shape.half(), shape.more({ call: "c", tool: "shell", args: "x".repeat(1000) }));
    const greedy = await fixture(shape, [args], { argumentCharacters: 10_000, calls: 5 });
    expect(await greedy.failure()).toMatchObject({ message: expect.stringContaining("was stopped") });
    const endless = await fixture(shape, [flood("data: ", "x".repeat(1000))], { lineBytes: 100_000 });
    expect(await endless.failure()).toMatchObject({
      message: expect.stringContaining("a line of more than"),
    });
    const pings = await fixture(shape, [flood("", ": ping\n\n")], { answerBytes: 100_000 });
    expect(await pings.failure()).toMatchObject({ message: expect.stringContaining("more than 98 KiB") });
    for (const { endpoint } of [wordy, greedy, endless, pings]) await endpoint.requests[0]?.gone;
  });

  test("is aborted when the turn is interrupted", async () => {
    const setup = await fixture(shape, [begin(shape.half({ text: "Well" }))]);
    const stop = new AbortController();
    const iterator = setup.model.stream(requestWith(HELLO), stop.signal)[Symbol.asyncIterator]();
    expect((await iterator.next()).value).toEqual({ type: "text-delta", text: "Well" });
    const rest = iterator.next();
    stop.abort();
    expect(await rest).toEqual({ done: true, value: undefined });
    await setup.endpoint.requests[0]?.gone;
  });
});
