import { writeFileSync } from "node:fs";
import { request as httpRequest } from "node:http";
import { temporaryFolder } from "@flint/testkit";
import { describe, expect, onTestFinished, test } from "vitest";
import { ModelServer, type ModelServerOptions } from "./server.ts";
import { type Fields, post, stream } from "./testing/client.ts";

async function start(options: ModelServerOptions = {}): Promise<string> {
  const server = await ModelServer.start(options);
  onTestFinished(() => server.close());
  return server.url;
}

async function scripted(steps: unknown): Promise<string> {
  const folder = await temporaryFolder();
  writeFileSync(folder.join("s.json"), JSON.stringify(steps));
  return start({ script: folder.join("s.json") });
}

describe("the model server", () => {
  const path = { anthropic: "/v1/messages", responses: "/v1/responses", chat: "/v1/chat/completions" };

  test("rejects a malformed body in the format of its API", async () => {
    const url = await start();
    const send = async (to: string, body: string) => {
      const response = await fetch(`${url}${to}`, { method: "POST", body });
      return { status: response.status, body: (await response.json()) as Fields };
    };
    expect(await send(path.anthropic, "{")).toEqual({
      status: 400,
      body: { type: "error", error: { type: "invalid_request_error", message: "The body is not JSON." } },
    });
    expect(await send(path.chat, '{"model":"m"}')).toMatchObject({
      status: 400,
      body: {
        error: {
          type: "invalid_request_error",
          message: "messages is missing.",
        },
      },
    });
    expect(await send(path.responses, '{"model":"m","input":[{"type":"message","role":"x"}]}')).toMatchObject(
      {
        status: 400,
        body: {
          error: { message: expect.stringContaining("input.0.role: Invalid option") },
        },
      },
    );
    expect(await send(path.responses, '{"model":"m"}')).toMatchObject({
      status: 400,
      body: { error: { message: "input is missing." } },
    });
    expect(await send("/v1/nothing", "{}")).toMatchObject({
      status: 404,
      body: { error: { message: expect.stringContaining("/v1/messages") } },
    });
    expect((await fetch(`${url}${path.chat}`)).status).toBe(405);
  });

  test("serves only programs on this machine", async () => {
    const url = await start();
    const status = (headers: Record<string, string>) =>
      new Promise<number | undefined>((resolve, reject) => {
        const asking = httpRequest(`${url}/v1/models`, { headers }, (answer) => {
          answer.resume();
          resolve(answer.statusCode);
        });
        asking.once("error", reject).end();
      });
    expect(await status({})).toBe(200);
    expect(await status({ host: "localhost:80" })).toBe(200);
    expect(await status({ host: "evil.example" })).toBe(403);
    expect(await status({ host: "127.0.0.1.evil.example:80" })).toBe(403);
    expect(await status({ origin: "http://localhost" })).toBe(403);
  });

  test("rejects a body over the limit without reading it to the end", async () => {
    const url = await start();
    const { status, body } = await new Promise<{ status: number | undefined; body: string }>(
      (resolve, reject) => {
        const headers = { "content-length": String(33 * 1024 * 1024) };
        const asking = httpRequest(`${url}/v1/messages`, { method: "POST", headers }, (answer) => {
          let text = "";
          answer.on("data", (piece) => {
            text += piece;
          });
          answer.once("end", () => {
            resolve({ status: answer.statusCode, body: text });
            asking.destroy();
          });
        });
        asking.once("error", reject);
        asking.flushHeaders();
      },
    );
    expect(status).toBe(413);
    expect(JSON.parse(body)).toMatchObject({ error: { type: "request_too_large" } });
  });

  test("sends scripted failures with their status and retry-after, then plays the next step", async () => {
    const url = await scripted([
      [{ error: { status: 429, message: "Slow down.", retry_after: 3 } }],
      [{ error: { status: 529, message: "Overloaded." } }],
      [{ text: "Fine." }],
    ]);
    const ask = { model: "m", messages: [{ role: "user", content: "go" }] };
    const limited = await post(url, path.anthropic, ask);
    expect(limited.status).toBe(429);
    expect(limited.response.headers.get("retry-after")).toBe("3");
    expect(limited.body).toEqual({
      type: "error",
      error: { type: "rate_limit_error", message: "Slow down." },
    });
    expect((await post(url, path.anthropic, ask)).body).toMatchObject({
      error: { type: "overloaded_error" },
    });
    expect((await post(url, path.anthropic, ask)).body).toMatchObject({ content: [{ text: "Fine." }] });
  });

  test("sends a failure in the middle of a stream as an event, and cuts the connection if the script says so", async () => {
    const half = [{ text: "half" }, { error: { status: 500, message: "Broke." } }];
    const url = await scripted([half, half, half, [{ text: "half" }, { cut: true }]]);
    const ask = { model: "m", messages: [{ role: "user", content: "go" }] };
    expect((await stream(url, path.anthropic, ask)).names.at(-1)).toBe("error");
    expect((await stream(url, path.responses, { model: "m", input: "go" })).names.at(-1)).toBe(
      "response.failed",
    );
    expect((await stream(url, path.chat, ask)).data.at(-1)).toMatchObject({ error: { message: "Broke." } });
    const response = await fetch(`${url}${path.chat}`, {
      method: "POST",
      body: JSON.stringify({ ...ask, stream: true }),
    });
    await expect(response.text()).rejects.toThrow();
  });

  test("does not start with an invalid script", async () => {
    await expect(scripted([[{ txt: "x" }]])).rejects.toThrow(/s\.json, step 1: \[0\] has none of the fields/);
  });
});

test("lists its model in the formats of OpenAI, Anthropic and Ollama", async () => {
  const url = await start();
  const list = (await (await fetch(`${url}/v1/models`)).json()) as Fields;
  expect(list).toMatchObject({
    object: "list",
    has_more: false,
    data: [{ id: "flint-offline", object: "model", type: "model", display_name: "Flint offline model" }],
  });
  expect(await (await fetch(`${url}/v1/models/any`)).json()).toMatchObject({ id: "any" });
  expect(await (await fetch(`${url}/api/tags`)).json()).toMatchObject({
    models: [{ name: "flint-offline" }],
  });
});

test("survives a client that disconnects in the middle of a stream", async () => {
  const url = await start();
  const ask = { model: "m", stream: true, messages: [{ role: "user", content: "count to 1000000" }] };
  const gone = new AbortController();
  const response = await fetch(`${url}/v1/chat/completions`, {
    method: "POST",
    body: JSON.stringify(ask),
    signal: gone.signal,
  });
  const reader = response.body?.getReader();
  await reader?.read();
  gone.abort();
  await expect(reader?.read()).rejects.toThrow();
  expect((await fetch(`${url}/v1/models`)).status).toBe(200);
});
