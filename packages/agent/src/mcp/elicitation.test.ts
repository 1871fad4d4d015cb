import type { Answers, UserQuestion } from "@flint/protocol";
import type { ElicitRequestFormParams, ElicitResult } from "@modelcontextprotocol/client";
import { expect, test } from "vitest";
import { answerElicitation } from "./elicitation.ts";

type Properties = ElicitRequestFormParams["requestedSchema"]["properties"];

/** Fills in a form with one list of answers a round. */
async function fill(
  properties: Properties,
  required: string[],
  ...rounds: Record<string, string | string[]>[]
) {
  const asked: (readonly UserQuestion[])[] = [];
  const params = { message: "Please", requestedSchema: { type: "object" as const, properties, required } };
  const result = await answerElicitation("notes", params, async (questions) => {
    asked.push(questions);
    const round = rounds.shift() ?? {};
    return Object.fromEntries(Object.entries(round).map(([id, text]) => [id, { answers: [text].flat() }]));
  });
  return { result, asked };
}

async function open(url: string, ...answers: string[]): Promise<{ result: ElicitResult; asked: string[] }> {
  const asked: string[] = [];
  const params = { mode: "url" as const, message: "Log in", url, elicitationId: "e1" };
  const given: Answers = answers.length === 0 ? {} : { answer: { answers } };
  const result = await answerElicitation("notes", params, async (questions) => {
    asked.push(...questions.map(({ question }) => question));
    return given;
  });
  return { result, asked };
}

test("each kind of field is one question, and its answer becomes a value of its type", async () => {
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
    "share (a number, may be left empty)",
    "sure (may be left empty)",
    "size (may be left empty)",
    "colour (may be left empty)",
    "parts (several may be chosen, may be left empty)",
    "note (usually none)",
    "extra (may be left empty)",
  ]);
  expect(questions.map(({ options }) => options?.map(({ label }) => label))).toEqual([
    ...[undefined, undefined, undefined, ["Yes", "No"], ["Small", "Large"], ["Red"], ["head", "tail"]],
    ...[undefined, undefined],
  ]);
  expect(questions.filter(({ secret }) => secret === true)).toEqual([]);
  expect(questions.find(({ multiple }) => multiple)?.id).toBe("parts");
});

test.each<[Properties[string], string, string]>([
  [{ type: "integer" }, "1.5", "It has to be a whole number."],
  [{ type: "number" }, "many", '"many" is no number.'],
  [{ type: "number", maximum: 3 }, "4", "It has to be at most 3."],
  [{ type: "boolean" }, "perhaps", "Answer Yes or No."],
  [{ type: "string", enum: ["a"] }, "b", '"b" is not one of the choices.'],
  [{ type: "string", format: "email" }, "me", '"me" is no email.'],
  [{ type: "string", format: "uri" }, "me", '"me" is no uri.'],
  [{ type: "string", format: "date" }, "2030-13-01", '"2030-13-01" is no date.'],
  [{ type: "string", format: "date-time" }, "soon", '"soon" is no date-time.'],
  [{ type: "string", minLength: 3 }, "ab", "At least 3 characters are needed."],
  [{ type: "string", maxLength: 1 }, "ab", "At most 1 characters are taken."],
  [{ type: "array", items: { type: "string", enum: ["a"] }, minItems: 2 }, "a", "Choose at least 2."],
  [{ type: "string" }, "", "It has to be given."],
])(
  "an answer that does not fit %j is asked for again with the reason, and declined in the end",
  async (schema, answer, reason) => {
    const round = { field: answer };
    const { result, asked } = await fill({ field: schema }, ["field"], round, round, round, round);
    expect(asked).toHaveLength(3);
    expect(asked[1]?.[0]?.question).toMatch(new RegExp(`^${reason.replace(/[.?]/g, "\\$&")}\nfield`));
    expect(result).toEqual({ action: "decline" });
  },
);

test("a form that nobody answers is cancelled", async () => {
  expect((await fill({ field: { type: "string" } }, [])).result).toEqual({ action: "cancel" });
});

test("a form without fields is a question of yes or no", async () => {
  expect((await fill({}, [], { answer: "Yes" })).result).toEqual({ action: "accept", content: {} });
  expect((await fill({}, [], { answer: "No" })).result).toEqual({ action: "decline" });
  expect((await fill({}, [])).result).toEqual({ action: "cancel" });
});

test("a form that no user would fill in is declined without being shown", async () => {
  const text = { type: "string" } as const;
  const long = Object.fromEntries(Array.from({ length: 21 }, (_, at) => [`f${at}`, text]));
  const wide: Properties = { field: { ...text, enum: Array.from({ length: 101 }, (_, at) => `${at}`) } };
  const poisoned: Properties = JSON.parse('{ "__proto__": { "type": "string" } }');
  for (const properties of [long, wide, poisoned]) {
    expect(await fill(properties, [])).toEqual({ result: { action: "decline" }, asked: [] });
  }
});

test("odd names and equal titles do not mix up answers", async () => {
  const same = [
    { const: "a", title: "Same" },
    { const: "b", title: "Same" },
  ];
  const properties: Properties = { "a b": { type: "string", oneOf: same }, _id: { type: "string" } };
  const { result } = await fill(properties, [], { "field-1": "Same (b)", "field-2": "x" });
  expect(result).toEqual({ action: "accept", content: { "a b": "b", _id: "x" } });
});

test("what a server says cannot hide anything on the screen", async () => {
  const params = {
    message: `\u001b[2Jsafe\u202e${"x".repeat(5000)}`,
    requestedSchema: { type: "object" as const, properties: {} },
  };
  const asked: string[] = [];
  await answerElicitation("notes", params, async ([question]) => {
    asked.push(question?.question ?? "");
    return {};
  });
  expect(asked[0]).toMatch(/^The MCP server notes asks: safex+…$/);
});

test("an address is shown in full with its host, and the user says whether it was opened", async () => {
  const { result, asked } = await open("https://login.test/start?a=1", "I opened it");
  expect(asked).toEqual([
    "The MCP server notes asks: Log in\nOpen this address on login.test:\nhttps://login.test/start?a=1",
  ]);
  expect(result).toEqual({ action: "accept" });
  expect((await open("https://login.test", "Decline")).result).toEqual({ action: "decline" });
  expect((await open("https://login.test")).result).toEqual({ action: "cancel" });
});

test("an address that is none of the web, or wants to deceive, is declined without being shown", async () => {
  const long = `https://login.test/${"x".repeat(3000)}`;
  for (const url of [
    "file:///etc/passwd",
    "javascript:alert(1)",
    "https://bank.test@evil.test/",
    "nonsense",
    long,
  ]) {
    expect(await open(url, "I opened it")).toEqual({ result: { action: "decline" }, asked: [] });
  }
});
