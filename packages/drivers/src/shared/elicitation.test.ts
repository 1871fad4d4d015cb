import type { Answers, UserQuestion } from "@flint/protocol";
import { expect, test } from "vitest";
import { answerElicitation } from "./elicitation.ts";

/** Answers every question with what is given for its id. */
function elicit(request: object, answers: Answers) {
  const asked: (readonly UserQuestion[])[] = [];
  const answer = answerElicitation("Agent", { ...request }, async (questions) => {
    asked.push(questions);
    return answers;
  });
  return { answer, asked };
}

const form = (properties: object, required: readonly string[] = []) => ({
  mode: "form",
  message: "Well?",
  requestedSchema: { type: "object", properties, required },
});

test("every kind of field is asked for and read as what it is", async () => {
  const properties = {
    sure: { type: "boolean" },
    size: { type: "number", maximum: 3 },
    tags: { type: "array", items: { type: "string", enum: ["a", "b"] } },
    plain: { type: "string", enum: ["x", "y"] },
    preset: { type: "string", default: "usual" },
    free: { type: "string" },
  };
  const { answer, asked } = elicit(form(properties), {
    sure: { answers: ["Yes"] },
    size: { answers: ["2.5"] },
    tags: { answers: ["a", "b"] },
    plain: { answers: ["y"] },
  });
  const content = { sure: true, size: 2.5, tags: ["a", "b"], plain: "y", preset: "usual" };
  expect(await answer).toEqual({ action: "accept", content });
  expect(asked[0]?.[0]?.question).toContain("Agent asks: Well?");
});

test("what nobody answers is cancelled, what is missing is asked for again and then declined", async () => {
  expect(await elicit(form({ name: { type: "string" } }), {}).answer).toEqual({ action: "cancel" });
  const { answer, asked } = elicit(form({ name: { type: "string" } }, ["name"]), { other: { answers: [] } });
  expect(await answer).toEqual({ action: "decline" });
  expect(asked).toHaveLength(3);
});

test("an address is shown as it leads, and only one of the web", async () => {
  const url = { mode: "url", message: "Log in", elicitationId: "1", url: "https://example.org/a?b" };
  const { answer, asked } = elicit(url, { answer: { answers: ["I opened it"] } });
  expect(await answer).toEqual({ action: "accept" });
  expect(asked[0]?.[0]?.question).toContain("on example.org:\nhttps://example.org/a?b");
  for (const bad of ["file:///etc/passwd", "https://good.org@evil.org/", "no address"]) {
    const refused = elicit({ ...url, url: bad }, {});
    expect(await refused.answer).toEqual({ action: "decline" });
    expect(refused.asked).toEqual([]);
  }
});

test("a form without fields is a yes or no, and one that cannot be asked is declined", async () => {
  expect(await elicit(form({}), { answer: { answers: ["Yes"] } }).answer).toEqual({
    action: "accept",
    content: {},
  });
  expect(await elicit(form({}), { answer: { answers: ["No"] } }).answer).toEqual({ action: "decline" });
  const many = Object.fromEntries(Array.from({ length: 21 }, (_, at) => [`f${at}`, { type: "string" }]));
  expect(await elicit(form(many), {}).answer).toEqual({ action: "decline" });
  expect(await elicit({ mode: "hologram", message: "" }, {}).answer).toEqual({ action: "decline" });
});
