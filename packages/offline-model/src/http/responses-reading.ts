import { Given } from "../intents/given.ts";
import { CallersConversation } from "./callers-conversation.ts";
import { wantsEscalation, wantsTitle, workingDirectory } from "./callers-text.ts";
import { type CallersTool, CallersTools } from "./callers-tools.ts";
import { argumentsOf } from "./chat.ts";
import { modelRequest } from "./model-request.ts";
import type { RememberedResponses } from "./remembered-responses.ts";
import type { ModelCall } from "./shape.ts";

/** Reads a request in the shape of OpenAI's Responses. */
export function readResponsesCall(body: unknown, remembered: RememberedResponses): ModelCall {
  const given = new Given(body, "");
  const instructions = given.at("instructions").optionalText() ?? "";
  const items = remembered.resolve(inputOf(given.at("input")), given.at("previous_response_id"));
  const texts = items.map((item) => (item.at("content").isMissing ? "" : textOf(item.at("content"))));
  const tools = new CallersTools(
    [...given.at("tools").optionalItems(), ...items.flatMap(addedTools)].flatMap((tool) => readTool(tool)),
    workingDirectory([instructions, ...texts]),
    wantsEscalation([instructions, ...texts]),
  );
  const conversation = new CallersConversation(tools);
  conversation.instructed(instructions);
  for (const item of items) readItem(item, conversation);
  const call: ModelCall = {
    model: given.at("model").text(),
    streaming: given.at("stream").value === true,
    tools,
    isTitle: wantsTitle(instructions, tools.count),
    request: modelRequest(conversation.messages, tools, schemaOf(given.at("text"))),
  };
  remembered.begin(call, items);
  return call;
}

function inputOf(given: Given): Given[] {
  if (given.isList) return given.items();
  return [new Given({ type: "message", role: "user", content: given.text() }, given.place)];
}

/** Codex sends the tools of its newest models among the items. */
function addedTools(item: Given): Given[] {
  return item.at("type").value === "additional_tools" ? item.at("tools").items() : [];
}

function readTool(given: Given): CallersTool[] {
  switch (given.at("type").text()) {
    case "namespace": {
      const namespace = given.at("name").text();
      return given
        .at("tools")
        .items()
        .flatMap((tool) => readTool(tool).map((each) => ({ ...each, namespace })));
    }
    case "function":
      return [{ ...named(given), kind: "function", parameters: optionalFields(given.at("parameters")) }];
    case "custom":
      return [{ ...named(given), kind: "custom", parameters: {} }];
    case "local_shell":
      return [{ name: "local_shell", description: "Runs a command.", kind: "localShell", parameters: {} }];
    // Tools that the provider itself works with, such as a search of the web, are nothing we could call.
    default:
      return [];
  }
}

function named(given: Given): { readonly name: string; readonly description: string } {
  return { name: given.at("name").text(), description: given.at("description").optionalText() ?? "" };
}

function readItem(given: Given, conversation: CallersConversation): void {
  switch (given.at("type").optionalText() ?? "message") {
    case "message":
      readMessage(given, conversation);
      return;
    case "function_call":
      conversation.called(callId(given), given.at("name").text(), argumentsOf(given.at("arguments").text()));
      return;
    case "custom_tool_call":
      conversation.called(callId(given), given.at("name").text(), { input: given.at("input").text() });
      return;
    case "local_shell_call":
      conversation.called(callId(given), "local_shell", { command: given.at("action").at("command").value });
      return;
    case "function_call_output":
    case "custom_tool_call_output":
    case "local_shell_call_output":
      conversation.answered(callId(given), textOf(given.at("output"), ""), false);
  }
}

function readMessage(given: Given, conversation: CallersConversation): void {
  const text = textOf(given.at("content"));
  switch (given.at("role").oneOf(["user", "assistant", "system", "developer"])) {
    case "user":
      conversation.asked(text);
      return;
    case "assistant":
      conversation.said(text);
      return;
    case "system":
    case "developer":
      conversation.instructed(text);
  }
}

function callId(given: Given): string {
  return given.at("call_id").optionalText() ?? given.at("id").text();
}

/** The text of content that is a text or a list of parts, each with a text. */
function textOf(given: Given, between = "\n"): string {
  if (given.isMissing) return "";
  if (!given.isList) return given.text();
  return given
    .items()
    .flatMap((part) => (part.at("text").isMissing ? [] : [part.at("text").text()]))
    .join(between);
}

function schemaOf(text: Given): Readonly<Record<string, unknown>> | undefined {
  const format = text.isObject ? text.at("format") : text;
  if (!format.isObject || format.at("type").value !== "json_schema") return undefined;
  return format.at("schema").fields();
}

function optionalFields(given: Given): Readonly<Record<string, unknown>> {
  return given.isMissing ? {} : given.fields();
}
