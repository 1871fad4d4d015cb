import type { Answers, UserQuestion } from "@flint/protocol";
import type { ClaudeElicitation } from "@flint/protocol/claude";
import { expect, test } from "vitest";
import { answerElicitation } from "./elicitation.ts";

const PROPERTIES = {
  name: { type: "string", description: "Whom to greet" },
  loud: { type: "boolean", title: "Loudly?" },
  times: { type: "integer" },
  word: { type: "string", enum: ["Hi", "Hello"] },
};

async function elicit(properties: object, texts: readonly string[], more: Partial<ClaudeElicitation> = {}) {
  const asked: (readonly UserQuestion[])[] = [];
  const requested_schema = { type: "object", properties, required: ["times"] };
  const ask = {
    subtype: "elicitation",
    mcp_server_name: "library",
    message: "How?",
    requested_schema,
    ...more,
  } as const;
  const answers: Answers = Object.fromEntries(texts.map((text, at) => [String(at + 1), { answers: [text] }]));
  const response = await answerElicitation(ask, async (questions) => {
    asked.push(questions);
    return answers;
  });
  return { response, asked };
}

test("each field of a form is a question, and each answer a value of the field's type", async () => {
  const { response, asked } = await elicit(PROPERTIES, ["Ada", "Yes", "3", "Hi"]);
  expect(response).toEqual({ action: "accept", content: { name: "Ada", loud: true, times: 3, word: "Hi" } });
  expect(asked).toEqual([
    [
      { id: "1", header: "name", question: "The MCP server library asks: How?\nname: Whom to greet" },
      { id: "2", header: "Loudly?", question: "Loudly?", options: [{ label: "Yes" }, { label: "No" }] },
      { id: "3", header: "times", question: "times" },
      { id: "4", header: "word", question: "word", options: [{ label: "Hi" }, { label: "Hello" }] },
    ],
  ]);
});

test("what is not answered well is left out, or declined where the server needs it", async () => {
  const { response } = await elicit(PROPERTIES, ["Ada", "maybe", "3", "Ho"]);
  expect(response).toEqual({ action: "accept", content: { name: "Ada", times: 3 } });
  expect((await elicit(PROPERTIES, ["Ada", "No", "many"])).response).toEqual({ action: "decline" });
});

test("nobody is asked what cannot be asked, and an answer that does not come is told", async () => {
  expect(await elicit({}, [])).toEqual({ response: { action: "decline" }, asked: [] });
  const address = await elicit(PROPERTIES, [], { mode: "url", url: "https://example.org" });
  expect(address).toEqual({ response: { action: "decline" }, asked: [] });
  expect((await elicit(PROPERTIES, [])).response).toEqual({ action: "cancel" });
});
