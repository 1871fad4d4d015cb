import type { Item } from "@flint/protocol";
import { expect, test } from "vitest";
import { isTold } from "./told-items.ts";

function toolCall(tool: string): Item<"toolCall"> {
  return { type: "toolCall", id: "i", tool, status: "inProgress" };
}

// The question itself is asked in its own words, and a client would show it twice.
test.each(["ask_user", "AskUserQuestion"])("the tool %s, by which an agent asks, is no item here", (tool) => {
  expect(isTold(toolCall(tool))).toBe(false);
});

test("other tools are items, and so is a plan that is a text", () => {
  expect(isTold(toolCall("web_search"))).toBe(true);
  expect(isTold({ type: "plan", id: "i", text: "First this, then that." })).toBe(true);
  expect(isTold({ type: "plan", id: "i", text: "", entries: [] })).toBe(false);
});
