import type { Answers, UserQuestion } from "@flint/protocol";
import { expect, test } from "vitest";
import { answerElicitation, type ElicitationResult } from "./elicitation.ts";

type Properties = Readonly<Record<string, object>>;

/** Fills in a form with one list of answers a round. */
async function fill(
  properties: Properties,
  required: string[],
  ...rounds: Record<string, string | string[]>[]
) {
  const asked: (readonly UserQuestion[])[] = [];
  const params = { message: "Please", requestedSchema: { type: "object" as const, properties, required } };
  const result = await answerElicitation("The MCP server notes", params, async (questions) => {
    asked.push(questions);
    const round = rounds.shift() ?? {};
    return Object.fromEntries(Object.entries(round).map(([id, text]) => [id, { answers: [text].flat() }]));
  });
  return { result, asked };
}

async function open(
  url: string,
  ...answers: string[]
): Promise<{ result: ElicitationResult; asked: string[] }> {
  const asked: string[] = [];
  const params = { mode: "url" as const, message: "Log in", url, elicitationId: "e1" };
  const given: Answers = answers.length === 0 ? {} : { answer: { answers } };
  const result = await answerElicitation("The MCP server notes", params, async (questions) => {
    asked.push(...questions.map(({ question }) => question));
    return given;
  });
  return { result, asked };
}

test("asks one question per field and reads the answer as the type of the field", async () => {
  const properties: Properties = {
    name: { type: "string", title: "Your name", description: "As in the passport", maxLength: 20 },
    age: { type: "integer", minimum: 0, maximum: 150 },
    share: { type: "number" },
    sure: { type: "boolean" },
    size: { type: "string", enum: ["s", "l"], enumNames: ["Small", "Large"] },
    colour: { type: "string", oneOf: [{ const: "#f00", title: "Red" }] },
    parts: { type: "array", items: { type: "string", enum: ["head", "tail"] }, minItems: 1 },
    note: { type: "string", default: "none" },
    extra: { type: "string" },
  };
  const answers = {
    ...{
      name: " Ada ",
      age: "36",
      share: "0.5",
      sure: "No",
      size: "Large",
      colour: "Red",
      parts: ["head", "tail"],
    },
  };
  const { result, asked } = await fill(properties, ["name", "age"], answers);
  expect(result).toEqual({
    action: "accept",
    content: {
      ...{
        name: "Ada",
        age: 36,
        share: 0.5,
        sure: false,
        size: "l",
        colour: "#f00",
        parts: ["head", "tail"],
      },
      note: "none",
    },
  });
  const [questions = []] = asked;
  expect(questions[0]).toEqual({
    id: "name",
    header: "Your name",
    question: "The MCP server notes asks: Please\nYour name: As in the passport",
  });
  expect(questions.map(({ question }) => question).slice(1)).toEqual([
    "age (a whole number from 0 up to 150)",
    "share (a number, optional)",
    "sure (optional)",
    "size (optional)",
    "colour (optional)",
    "parts (choose any number, optional)",
    "note (default none)",
    "extra (optional)",
  ]);
  expect(questions.map(({ options }) => options?.map(({ label }) => label))).toEqual([
    ...[undefined, undefined, undefined, ["Yes", "No"], ["Small", "Large"], ["Red"], ["head", "tail"]],
    ...[undefined, undefined],
  ]);
  expect(questions.filter(({ secret }) => secret === true)).toEqual([]);
  expect(questions.find(({ multiple }) => multiple)?.id).toBe("parts");
});

test.each<[Properties[string], string, string]>([
  [{ type: "integer" }, "1.5", "It must be a whole number."],
  [{ type: "number" }, "many", '"many" is not a number.'],
  [{ type: "number", maximum: 3 }, "4", "It must be at most 3."],
  [{ type: "boolean" }, "perhaps", "Answer Yes or No."],
  [{ type: "string", enum: ["a"] }, "b", '"b" is not one of the choices.'],
  [{ type: "string", format: "email" }, "me", '"me" is not a valid email.'],
  [{ type: "string", format: "uri" }, "me", '"me" is not a valid uri.'],
  [{ type: "string", format: "date" }, "2030-13-01", '"2030-13-01" is not a valid date.'],
  [{ type: "string", format: "date-time" }, "soon", '"soon" is not a valid date-time.'],
  [{ type: "string", minLength: 3 }, "ab", "It must have at least 3 characters."],
  [{ type: "string", maxLength: 1 }, "ab", "It must have at most 1 characters."],
  [{ type: "array", items: { type: "string", enum: ["a"] }, minItems: 2 }, "a", "Choose at least 2."],
  [{ type: "string" }, "", "An answer is required."],
])(
  "asks again with the reason for an answer that does not fit %j, then declines",
  async (schema, answer, reason) => {
    const round = { field: answer };
    const { result, asked } = await fill({ field: schema }, ["field"], round, round, round, round);
    expect(asked).toHaveLength(3);
    expect(asked[1]?.[0]?.question).toMatch(new RegExp(`^${reason.replace(/[.?]/g, "\\$&")}\nfield`));
    expect(result).toEqual({ action: "decline" });
  },
);

test("cancels a form that no one answers", async () => {
  expect((await fill({ field: { type: "string" } }, [])).result).toEqual({ action: "cancel" });
});

test("asks for a confirmation if a form has no fields", async () => {
  expect((await fill({}, [], { answer: "Yes" })).result).toEqual({ action: "accept", content: {} });
  expect((await fill({}, [], { answer: "No" })).result).toEqual({ action: "decline" });
  expect((await fill({}, [])).result).toEqual({ action: "cancel" });
});

test("declines a form that is too large to ask", async () => {
  const text = { type: "string" } as const;
  const long = Object.fromEntries(Array.from({ length: 21 }, (_, at) => [`f${at}`, text]));
  const wide: Properties = { field: { ...text, enum: Array.from({ length: 101 }, (_, at) => `${at}`) } };
  const poisoned: Properties = JSON.parse('{ "__proto__": { "type": "string" } }');
  for (const properties of [long, wide, poisoned]) {
    expect(await fill(properties, [])).toEqual({ result: { action: "decline" }, asked: [] });
  }
});

test("keeps answers apart for odd field names and equal titles", async () => {
  const same = [
    { const: "a", title: "Same" },
    { const: "b", title: "Same" },
  ];
  const properties: Properties = { "a b": { type: "string", oneOf: same }, _id: { type: "string" } };
  const { result } = await fill(properties, [], { "field-1": "Same (b)", "field-2": "x" });
  expect(result).toEqual({ action: "accept", content: { "a b": "b", _id: "x" } });
});

test("removes invisible characters from a message", async () => {
  const params = {
    message: `\u001b[2Jsafe\u202e${"x".repeat(5000)}`,
    requestedSchema: { type: "object" as const, properties: {} },
  };
  const asked: string[] = [];
  await answerElicitation("The MCP server notes", params, async ([question]) => {
    asked.push(question?.question ?? "");
    return {};
  });
  expect(asked[0]).toMatch(/^The MCP server notes asks: safex+…$/);
});

test("shows a URL in full with its host", async () => {
  const { result, asked } = await open("https://login.test/start?a=1", "I opened it");
  expect(asked).toEqual([
    "The MCP server notes asks: Log in\nOpen this address on login.test:\nhttps://login.test/start?a=1",
  ]);
  expect(result).toEqual({ action: "accept" });
  expect((await open("https://login.test", "Decline")).result).toEqual({ action: "decline" });
  expect((await open("https://login.test")).result).toEqual({ action: "cancel" });
});

test("declines a URL that is not a web address, has credentials or is too long", async () => {
  const long = `https://login.test/${"x".repeat(3000)}`;
  for (const url of [
    "file:///etc/passwd",
    "javascript:alert(1)",
    "https://bank.test@evil.test/",
    "https://:secret@evil.test/",
    "not a url",
    long,
  ]) {
    expect(await open(url, "I opened it")).toEqual({ result: { action: "decline" }, asked: [] });
  }
});

test("declines a mode it does not know", async () => {
  const result = await answerElicitation("Agent", { mode: "hologram", message: "" }, async () => ({}));
  expect(result).toEqual({ action: "decline" });
});
