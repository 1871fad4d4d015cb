import { describe, expect, onTestFinished, test } from "vitest";
import { ModelServer } from "./server.ts";
import { type Fields, post, stream } from "./testing/client.ts";

async function start(): Promise<string> {
  const server = await ModelServer.start();
  onTestFinished(() => server.close());
  return server.url;
}

const parameters = { type: "object", properties: { command: { type: "string" } }, required: ["command"] };

describe("the Chat Completions API", () => {
  const bash = { type: "function", function: { name: "bash", parameters } };
  const ask = (content: string, rest: object = {}) => ({
    model: "m",
    messages: [{ role: "user", content }],
    tools: [bash],
    ...rest,
  });

  test("calls a tool and uses its result", async () => {
    const url = await start();
    const first = await post(url, "/v1/chat/completions", ask("run `date`"));
    const [choice] = first.body.choices as { message: Fields; finish_reason: string }[];
    expect(choice).toMatchObject({
      finish_reason: "tool_calls",
      message: {
        content: null,
        tool_calls: [{ type: "function", function: { name: "bash", arguments: '{"command":"date"}' } }],
      },
    });
    const [call] = (choice?.message.tool_calls ?? []) as Fields[];
    const messages = [
      { role: "system", content: "You are an agent." },
      { role: "user", content: "run `date`" },
      choice?.message,
      { role: "tool", tool_call_id: call?.id, content: "Monday" },
    ];
    const { body } = await post(url, "/v1/chat/completions", { model: "m", messages, tools: [bash] });
    expect(body).toMatchObject({
      choices: [{ finish_reason: "stop", message: { content: expect.stringContaining("Monday") } }],
    });
  });

  test("ends a stream with a finish reason, the usage if requested, and [DONE]", async () => {
    const url = await start();
    const { data, raw } = await stream(
      url,
      "/v1/chat/completions",
      ask("run `date`", { stream_options: { include_usage: true } }),
    );
    expect(raw.endsWith("data: [DONE]\n\n")).toBe(true);
    const chunks = data as {
      choices: {
        delta: { tool_calls?: { function: { arguments: string } }[] };
        finish_reason: string | null;
      }[];
    }[];
    const json = chunks.flatMap(({ choices }) => choices.flatMap(({ delta }) => delta.tool_calls ?? []));
    expect(json.map((call) => call.function.arguments).join("")).toBe('{"command":"date"}');
    expect(chunks.at(-2)?.choices[0]?.finish_reason).toBe("tool_calls");
    expect(data.at(-1)).toMatchObject({ choices: [], usage: { total_tokens: expect.any(Number) } });
    const without = await stream(url, "/v1/chat/completions", ask("hello"));
    expect(without.raw).not.toContain('"usage"');
  });
});
