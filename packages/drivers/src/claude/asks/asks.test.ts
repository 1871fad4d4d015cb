import type { UserQuestion } from "@flint/protocol";
import { expect, test } from "vitest";
import { elicit } from "./asks.ts";

test("asks for the form of an MCP server by its name, and accepts with the answers", async () => {
  const asked: (readonly UserQuestion[])[] = [];
  const requested_schema = {
    type: "object",
    properties: { loud: { type: "boolean", title: "Loudly?" }, times: { type: "integer" } },
    required: ["times"],
  };
  const ask = {
    subtype: "elicitation",
    mcp_server_name: "library",
    message: "How?",
    requested_schema,
  } as const;
  const response = await elicit(ask, async (questions) => {
    asked.push(questions);
    return { loud: { answers: ["Yes"] }, times: { answers: ["3"] } };
  });
  expect(response).toEqual({ action: "accept", content: { loud: true, times: 3 } });
  const options = [{ label: "Yes" }, { label: "No" }];
  expect(asked).toEqual([
    [
      {
        id: "loud",
        header: "Loudly?",
        question: "The MCP server library asks: How?\nLoudly? (optional)",
        options,
      },
      { id: "times", header: "times", question: "times (a whole number)" },
    ],
  ]);
});
