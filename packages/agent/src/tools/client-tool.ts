import { type ClientTool, type ToolCallResult, toolNameOf } from "@flint/protocol";
import { done, failed, type Tool } from "./tool.ts";
import { shownCall } from "./tool-call-item.ts";

/** A tool that a client offers: it is run there, and what it gives is told to the model. */
export function clientTool(offered: ClientTool): Tool {
  const name = toolNameOf(offered);
  const { description, namespace, inputSchema } = offered;
  return {
    name,
    description,
    // What it does is known only to the client, so one call waits for the other.
    readOnly: false,
    parameters: { ...inputSchema, type: "object" },
    run: (input, context) =>
      shownCall({ tool: name, title: `Calls ${name}`, input }, context, async () => {
        const { itemId, turn } = context;
        const result = await turn.callTool({ itemId, tool: offered.name, namespace, arguments: input });
        const text = textOf(result);
        return result.success ? done(text) : failed(text);
      }),
  };
}

/** A model is told in words; of a picture it hears where it is, unless that is the picture itself. */
function textOf({ content }: ToolCallResult): string {
  const pieces = content.map((piece) => {
    if (piece.type === "text") return piece.text;
    return piece.url.startsWith("data:") ? "[a picture]" : `[a picture: ${piece.url}]`;
  });
  return pieces.join("\n");
}
