import { describe, expect, onTestFinished, test } from "vitest";
import { ModelServer } from "./server.ts";
import { type Fields, order, post, stream } from "./testing/client.ts";

async function start(): Promise<string> {
  const server = await ModelServer.start();
  onTestFinished(() => server.close());
  return server.url;
}

describe("the Responses API", () => {
  const shell = {
    type: "function",
    name: "exec_command",
    parameters: { type: "object", properties: { cmd: { type: "string" } } },
  };
  const ask = (input: unknown, rest: object = {}) => ({ model: "gpt-x", input, tools: [shell], ...rest });

  test("calls a tool, uses its result, ignores other items and requires the whole conversation", async () => {
    const url = await start();
    const first = await post(url, "/v1/responses", ask("run `date`"));
    const [call] = first.body.output as Fields[];
    expect(call).toMatchObject({ type: "function_call", name: "exec_command", arguments: '{"cmd":"date"}' });
    const result = {
      type: "function_call_output",
      call_id: call?.call_id,
      output: "Exit code: 0\nOutput:\nMonday\n",
    };
    const asked = { type: "message", role: "user", content: [{ type: "input_text", text: "run `date`" }] };
    const said = "`date` ended with exit code 0 and printed:\n\n```\nMonday\n```";
    const search = {
      type: "tool_search_call",
      arguments: { query: "x" },
      output: { found: 1 },
      content: null,
    };
    const { body } = await post(url, "/v1/responses", ask([asked, search, call, result]));
    expect(body).toMatchObject({
      status: "completed",
      output: [{ type: "message", content: [{ type: "output_text", text: said }] }],
    });
    for (const request of [
      ask([result], { previous_response_id: "resp_gone" }),
      ask([asked, { type: "item_reference", id: call?.id }, result]),
    ])
      expect(await post(url, "/v1/responses", request)).toMatchObject({
        status: 400,
        body: { error: { message: expect.stringContaining("send the whole conversation") } },
      });
  });

  test("streams numbered events in order for text, reasoning and calls", async () => {
    const url = await start();
    const { names, data } = await stream(url, "/v1/responses", ask("think about: run `date`"));
    expect(order(names)).toEqual([
      "response.created",
      "response.in_progress",
      "response.output_item.added",
      "response.reasoning_summary_part.added",
      "response.reasoning_summary_text.delta",
      "response.reasoning_summary_text.done",
      "response.reasoning_summary_part.done",
      "response.output_item.done",
      "response.output_item.added",
      "response.function_call_arguments.delta",
      "response.function_call_arguments.done",
      "response.output_item.done",
      "response.completed",
    ]);
    expect(data.map(({ sequence_number }) => sequence_number)).toEqual(data.map((_, index) => index));
    const text = await stream(url, "/v1/responses", ask("hello"));
    expect(order(text.names)).toEqual([
      "response.created",
      "response.in_progress",
      "response.output_item.added",
      "response.content_part.added",
      "response.output_text.delta",
      "response.output_text.done",
      "response.content_part.done",
      "response.output_item.done",
      "response.completed",
    ]);
    const { response } = text.data.at(-1) as { response: Fields };
    expect(response).toMatchObject({ status: "completed", usage: { total_tokens: expect.any(Number) } });
  });

  test("calls custom tools and tools in namespaces", async () => {
    const url = await start();
    const item = async (prompt: string, tools: unknown, input?: object[]) => {
      const user = { role: "user", content: prompt };
      const { body } = await post(url, "/v1/responses", ask([...(input ?? []), user], { tools }));
      return (body.output as Fields[])[0];
    };
    expect(await item("write `x` to a.txt", [{ type: "custom", name: "apply_patch" }])).toMatchObject({
      type: "custom_tool_call",
      name: "apply_patch",
      input: "*** Begin Patch\n*** Add File: a.txt\n+x\n*** End Patch\n",
    });
    const group = { type: "namespace", name: "box", tools: [shell] };
    expect(
      await item("run `date`", [], [{ type: "additional_tools", role: "developer", tools: [group] }]),
    ).toMatchObject({
      type: "function_call",
      name: "exec_command",
      namespace: "box",
    });
  });

  test("answers with JSON that fits the schema", async () => {
    const url = await start();
    const schema = { type: "object", properties: { ok: { type: "boolean" } } };
    const { body } = await post(
      url,
      "/v1/responses",
      ask("hello", { text: { format: { type: "json_schema", name: "x", schema } } }),
    );
    const [message] = body.output as { content: Fields[] }[];
    expect(JSON.parse(String(message?.content[0]?.text))).toEqual({ ok: true });
  });
});
