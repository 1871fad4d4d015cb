import type { JsonReader } from "../json-reader.ts";
import { escalatesCommands, workingDirectory } from "./agent-text.ts";
import { type ApiRequest, apiRequest, contentText, parseArguments } from "./api.ts";
import { RequestConversation } from "./request-conversation.ts";
import { type RequestTool, RequestTools } from "./request-tools.ts";

/** Parses a request of the Responses API with these items as its conversation. */
export function parseResponsesRequest(body: JsonReader, items: readonly JsonReader[]): ApiRequest {
  const previous = body.field("previous_response_id");
  if (!previous.isMissing) previous.fail("left out: send the whole conversation");
  const instructions = body.field("instructions").optionalString() ?? "";
  const texts = [instructions, ...items.map((item) => contentText(item.field("content")))];
  const offered = [...body.field("tools").optionalArray(), ...items.flatMap(additionalTools)];
  const tools = new RequestTools(
    offered.flatMap((tool) => readTool(tool)),
    workingDirectory(texts),
    escalatesCommands(texts),
  );
  const conversation = new RequestConversation(tools);
  conversation.addSystem(instructions);
  for (const item of items) readItem(item, conversation);
  return apiRequest(body, conversation, schemaIn(body.field("text")));
}

/** Codex sends the tools of its newest models among the items. */
function additionalTools(item: JsonReader): JsonReader[] {
  return item.field("type").value === "additional_tools" ? item.field("tools").array() : [];
}

function readTool(tool: JsonReader): RequestTool[] {
  const type = tool.field("type").string();
  if (type === "namespace") {
    const namespace = tool.field("name").string();
    const tools = tool.field("tools").array();
    return tools.flatMap((each) => readTool(each).map((read) => ({ ...read, namespace })));
  }
  // Tools that run at the provider, such as a web search, cannot be called here.
  if (type !== "function" && type !== "custom") return [];
  const parameters = tool.field("parameters");
  return [
    {
      name: tool.field("name").string(),
      description: tool.field("description").optionalString() ?? "",
      kind: type,
      parameters: parameters.isMissing ? {} : parameters.object(),
    },
  ];
}

function readItem(item: JsonReader, conversation: RequestConversation): void {
  const type = item.field("type").optionalString() ?? "message";
  const callId = () => item.field("call_id").optionalString() ?? item.field("id").string();
  const name = () => item.field("name").string();
  if (type === "message") readMessage(item, conversation);
  else if (type === "function_call")
    conversation.addCall(callId(), name(), parseArguments(item.field("arguments").string()));
  else if (type === "custom_tool_call")
    conversation.addCall(callId(), name(), { input: item.field("input").string() });
  else if (type === "function_call_output" || type === "custom_tool_call_output")
    conversation.addResult(callId(), contentText(item.field("output"), ""));
}

function readMessage(message: JsonReader, conversation: RequestConversation): void {
  const text = contentText(message.field("content"));
  const role = message.field("role").oneOf(["user", "assistant", "system", "developer"]);
  if (role === "user") conversation.addUser(text);
  else if (role === "assistant") conversation.addAssistant(text);
  else conversation.addSystem(text);
}

function schemaIn(text: JsonReader): Readonly<Record<string, unknown>> | undefined {
  const format = text.isObject ? text.field("format") : text;
  if (!format.isObject || format.field("type").value !== "json_schema") return undefined;
  return format.field("schema").object();
}
