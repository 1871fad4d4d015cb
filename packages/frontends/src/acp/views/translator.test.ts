import type { Item, ThreadEvent } from "@flint/protocol";
import { describe, expect, test } from "vitest";
import { abilitiesOf } from "../capabilities.ts";
import { V1Translator } from "../v1/translator.ts";
import { V2Translator } from "../v2/translator.ts";

const TASKS: Item<"plan"> = {
  ...{ type: "plan", id: "p", text: "1. look" },
  entries: [{ step: "look", status: "completed" }],
};
const PROPOSAL: Item<"plan"> = { type: "plan", id: "p", text: "First look." };

describe.each([
  ["1", () => new V1Translator(abilitiesOf(undefined)), "plan", "agent_message_chunk"],
  ["2", () => new V2Translator(), "plan_update", "agent_message"],
] as const)("at the ACP door, version %s,", (_version, translator, planned, said) => {
  const live = (item: Item<"plan">): string[] => {
    const words = translator();
    const types = ["item/started", "item/completed"] as const;
    return types.flatMap((type) => {
      const event: ThreadEvent = { type, data: { threadId: "t", turnId: "u", item }, at: 1 };
      return words
        .translate(event, () => false)
        .updates()
        .map(({ sessionUpdate }) => sessionUpdate);
    });
  };
  const replayed = (item: Item<"plan">): string[] =>
    translator()
      .history([{ id: "u", status: "completed", items: [item] }])
      .map(({ sessionUpdate }) => sessionUpdate);

  test("a list of tasks is a plan and is not said as well", () => {
    expect([live(TASKS), replayed(TASKS)]).toEqual([[], [planned]]);
  });

  test("a plan that is proposed in words is said once", () => {
    expect([live(PROPOSAL), replayed(PROPOSAL)]).toEqual([[said], [said]]);
  });
});
