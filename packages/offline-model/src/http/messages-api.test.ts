import { describe, expect, onTestFinished, test } from "vitest";
import { ModelServer } from "./server.ts";
import { type Fields, order, post, stream } from "./testing/client.ts";

async function start(): Promise<string> {
  const server = await ModelServer.start();
  onTestFinished(() => server.close());
  return server.url;
}

const parameters = { type: "object", properties: { command: { type: "string" } }, required: ["command"] };

describe("the Messages API", () => {
  const Bash = { name: "Bash", description: "Runs", input_schema: parameters };
  const ask = (content: unknown, rest: object = {}) => ({
    model: "claude-x",
    max_tokens: 100,
    messages: [{ role: "user", content }],
    tools: [Bash],
    ...rest,
  });

  test("calls a tool, uses its result, and reports usage and a stop reason", async () => {
    const url = await start();
    const first = await post(url, "/v1/messages?beta=true", ask("run `date`"));
    expect(first.body).toMatchObject({
      type: "message",
      role: "assistant",
      model: "claude-x",
      content: [{ type: "tool_use", name: "Bash", input: { command: "date" } }],
      stop_reason: "tool_use",
      usage: { input_tokens: expect.any(Number), output_tokens: expect.any(Number) },
    });
    const [use] = first.body.content as Fields[];
    const messages = [
      {
        role: "user",
        content: [
          { type: "text", text: "<system-reminder>x</system-reminder>" },
          { type: "text", text: "run `date`" },
        ],
      },
      { role: "assistant", content: first.body.content },
      { role: "user", content: [{ type: "tool_result", tool_use_id: use?.id, content: "Monday" }] },
    ];
    const second = await post(url, "/v1/messages", { ...ask(""), messages });
    expect(second.body).toMatchObject({
      content: [{ type: "text", text: "`date` ran and printed:\n\n```\nMonday\n```" }],
      stop_reason: "end_turn",
    });
  });

  test("answers with Claude Code's StructuredOutput tool if a schema is required", async () => {
    const url = await start();
    const properties = { answer: { type: "string" }, count: { type: "integer" } };
    const input_schema = { type: "object", properties, required: ["answer", "count"] };
    const tools = [Bash, { name: "StructuredOutput", description: "Answers", input_schema }];
    const input = { answer: expect.any(String), count: expect.any(Number) };
    const answer = await post(url, "/v1/messages", ask("hello", { tools }));
    expect(answer.body).toMatchObject({
      content: [{ type: "tool_use", name: "StructuredOutput", input }],
      stop_reason: "tool_use",
    });
    const work = await post(url, "/v1/messages", ask("run `date`", { tools }));
    expect(work.body).toMatchObject({ content: [{ type: "tool_use", name: "Bash" }] });
  });

  test("streams its events in order, with thinking only if it is enabled", async () => {
    const url = await start();
    const { type, names, data } = await stream(
      url,
      "/v1/messages",
      ask("think about: run `date`", { thinking: { type: "enabled", budget_tokens: 1024 } }),
    );
    expect(type).toMatch(/^text\/event-stream/);
    const block = ["content_block_start", "content_block_delta", "content_block_stop"];
    expect(order(names)).toEqual(["message_start", ...block, ...block, "message_delta", "message_stop"]);
    expect(data.every((event, index) => event.type === names[index])).toBe(true);
    const deltas = data.flatMap(({ delta }) => (delta === undefined ? [] : [delta as Fields]));
    expect(order(deltas.map(({ type }) => String(type)))).toEqual([
      "thinking_delta",
      "signature_delta",
      "input_json_delta",
      "undefined",
    ]);
    const json = deltas.map(({ partial_json = "" }) => partial_json).join("");
    expect(JSON.parse(json)).toEqual({ command: "date" });
    expect(deltas.at(-1)).toEqual({ stop_reason: "tool_use", stop_sequence: null });
    const plain = await stream(url, "/v1/messages", ask("think about life"));
    expect(plain.raw).not.toContain("thinking_delta");
  });

  test("answers title requests, as JSON if requested, and counts tokens", async () => {
    const url = await start();
    const title = { system: [{ type: "text", text: "Generate a title for this session." }], tools: [] };
    const schema = { type: "object", properties: { title: { type: "string" } }, required: ["title"] };
    const plain = await post(url, "/v1/messages", ask("run `date`", title));
    expect(plain.body.content).toEqual([{ type: "text", text: "run date" }]);
    const json = await post(
      url,
      "/v1/messages",
      ask("run `date`", { ...title, output_config: { format: { type: "json_schema", schema } } }),
    );
    expect(JSON.parse(String((json.body.content as Fields[])[0]?.text))).toEqual({ title: "run date" });
    const counted = await post(url, "/v1/messages/count_tokens", ask("x".repeat(400)));
    expect(counted.body).toEqual({ input_tokens: 100 });
  });

  test("does not continue work that the user interrupted", async () => {
    const url = await start();
    const messages = [
      { role: "user", content: "run `date`" },
      {
        role: "assistant",
        content: [{ type: "tool_use", id: "call_0_0_0_x", name: "Bash", input: { command: "date" } }],
      },
      {
        role: "user",
        content: [{ type: "tool_result", tool_use_id: "call_0_0_0_x", content: "rejected", is_error: true }],
      },
      { role: "user", content: [{ type: "text", text: "[Request interrupted by user for tool use]" }] },
      { role: "user", content: "what did I ask before?" },
    ];
    const { body } = await post(url, "/v1/messages", { ...ask(""), messages });
    expect(body.content).toEqual([{ type: "text", text: "You asked me:\n1. run `date`" }]);
  });
});
