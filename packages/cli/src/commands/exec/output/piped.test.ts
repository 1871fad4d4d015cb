import type { AgentEvent } from "@flint/sdk";
import { expect, test } from "vitest";
import { ThreadFeed } from "../thread.ts";
import { AnswerView, JsonView } from "./piped.ts";

function outputs() {
  const written = { answer: "", aside: "" };
  return {
    written,
    answer: (text: string) => {
      written.answer += text;
    },
    aside: (text: string) => {
      written.aside += text;
    },
  };
}

const archived = (threadId: string): AgentEvent => ({
  type: "thread/archived",
  data: { threadId },
  seq: 4,
  at: 5,
});
const turn = { id: "u", status: "completed", items: [] } as const;
const ended: AgentEvent = { type: "turn/completed", data: { threadId: "t", turn: { ...turn, items: [] } } };
const end = {
  status: "completed",
  elapsedMs: 1,
  tokens: 0,
  files: 0,
  text: "It is\u001b[2J done.\n\n",
} as const;

test("prints each event as a line of JSON with its thread", () => {
  const to = outputs();
  const view = new JsonView(to, () => "t");
  view.show(archived("t"));
  view.show({ type: "unknown", method: "claude/hello", params: { a: 1 } });
  view.say("a word");
  expect(to.written).toEqual({
    answer:
      '{"type":"thread/archived","threadId":"t","seq":4,"at":5}\n{"type":"claude/hello","threadId":"t","a":1}\n',
    aside: "a word\n",
  });
});

test("prints only the last message on stdout, and the rest on stderr", () => {
  const to = outputs();
  const view = new AnswerView(to);
  view.show({
    type: "item/completed",
    data: { threadId: "t", turnId: "u", item: { type: "webSearch", id: "w", query: "x" } },
  });
  view.show({ type: "warning", data: { threadId: "t", message: "careful", reason: "x" } });
  view.end(end);
  expect(to.written).toEqual({ answer: "It is\\u{1b}[2J done.\n", aside: "warning: careful\n" });
});

test("reports a failed turn on stderr", () => {
  const to = outputs();
  new AnswerView(to).end({ ...end, text: "", status: "failed", error: "no key" });
  expect(to.written).toEqual({ answer: "", aside: "The turn failed: no key\n" });
});

test("passes on the events of one thread until its turn has ended", () => {
  const seen: string[] = [];
  const feed = new ThreadFeed((event) => seen.push(event.type));
  feed.event(archived("other"));
  feed.event(archived("t"));
  expect(seen).toEqual([]);
  feed.start("t");
  feed.event(archived("other"));
  feed.event({ type: "unknown", method: "x", params: { threadId: "t" } });
  feed.event(ended);
  feed.event(archived("t"));
  expect(seen).toEqual(["thread/archived", "unknown", "turn/completed"]);
});
