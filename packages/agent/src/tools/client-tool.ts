import { type ClientTool, type ToolCallResult, toolNameOf } from "@flint/protocol";
import { done, failed, type Tool } from "./tool.ts";
import { runAsItem } from "./tool-call-item.ts";

/** Makes a tool of one that a client provides: it runs at the client, and its result goes to the model. */
export function clientTool(offered: ClientTool): Tool {
  const name = toolNameOf(offered);
  const { description, namespace, inputSchema } = offered;
  return {
    name,
    description,
    // Only the client knows what it does, so calls run one after the other.
    readOnly: false,
    parameters: { ...inputSchema, type: "object" },
    run: (input, context) =>
      runAsItem({ tool: name, title: `Calls ${name}`, input }, context, async () => {
        const { itemId, turn } = context;
        const result = await turn.callTool({ itemId, tool: offered.name, namespace, arguments: input });
        const text = textOf(result);
        return result.success ? done(text) : failed(text);
      }),
  };
}

/** The result as text; an image is named by its URL, unless that is the image itself. */
function textOf({ content }: ToolCallResult): string {
  const pieces = content.map((piece) => {
    if (piece.type === "text") return piece.text;
    return piece.url.startsWith("data:") ? "[image]" : `[image: ${piece.url}]`;
  });
  return pieces.join("\n");
}
