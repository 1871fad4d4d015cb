import type { Item, ThreadEvent, ThreadItem } from "@flint/protocol";
import { EVENT_TYPES, eventsOf } from "@flint/testkit";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { capabilitiesV1, capabilitiesV2 } from "../capabilities.ts";
import { MessageCheck } from "../testing/schema-check.ts";
import { V1 } from "../v1/protocol.ts";
import { V2 } from "../v2/protocol.ts";
import { actionView } from "./tool-view.ts";
import { Translator } from "./translator.ts";

const TASKS: Item<"plan"> = {
  ...{ type: "plan", id: "p", text: "1. look" },
  entries: [{ step: "look", status: "completed" }],
};
const PROPOSAL: Item<"plan"> = { type: "plan", id: "p", text: "First look." };

describe.each([
  [
    "1",
    () => new Translator(V1.updates(capabilitiesV1({})), () => false),
    "plan",
    "agent_message_chunk",
    "tool_call",
  ],
  [
    "2",
    () => new Translator(V2.updates(capabilitiesV2({})), () => false),
    "plan_update",
    "agent_message",
    "tool_call_update",
  ],
] as const)("the translator in version %s", (_version, translator, plan, message, toolCall) => {
  const live = (item: Item<"plan">): string[] => {
    const translating = translator();
    const types = ["item/started", "item/completed"] as const;
    return types.flatMap((type) => {
      const event: ThreadEvent = { type, data: { threadId: "t", turnId: "u", item }, at: 1 };
      return translating
        .translate(event)
        .updates()
        .map(({ sessionUpdate }) => sessionUpdate);
    });
  };
  const replayed = (item: Item<"plan">): string[] =>
    translator()
      .history([{ id: "u", status: "completed", items: [item] }])
      .map(({ sessionUpdate }) => sessionUpdate);

  test("shows a task list as a plan and not also as a message", () => {
    expect([live(TASKS), replayed(TASKS)]).toEqual([[], [plan]]);
  });

  test("shows a message as text and an extension item as a tool call", () => {
    const itemsOf = (items: ThreadItem[]) =>
      translator()
        .history([{ id: "u", status: "completed", items }])
        .map(({ sessionUpdate }) => sessionUpdate);
    expect(itemsOf([{ type: "agentMessage", id: "i", text: "hi" }])).toEqual([message]);
    expect(itemsOf([{ type: "weather", id: "i" }])).toEqual([toolCall]);
  });

  test("shows a plan proposed as text once", () => {
    expect([live(PROPOSAL), replayed(PROPOSAL)]).toEqual([[message], [message]]);
  });
});

const ALL_CAPABILITIES = capabilitiesV1({
  session: { compaction: {}, notices: {} },
  _meta: { terminal_output: true },
});

const FORMATS = [
  { version: 1, format: V1.updates(capabilitiesV1({})) },
  { version: 1, format: V1.updates(ALL_CAPABILITIES) },
  { version: 2, format: V2.updates(capabilitiesV2({})) },
] as const;

/** Returns the violations of the schema in the messages for an event. */
function schemaProblems(event: ThreadEvent): string[] {
  return FORMATS.flatMap(({ version, format }) => {
    const check = new MessageCheck(version);
    const receive = (message: object) => check.received({ jsonrpc: "2.0", ...message });
    for (const update of new Translator(format, () => false).translate(event).updates())
      receive({ method: "session/update", params: { sessionId: "s", update } });
    if (event.type === "approval/requested") {
      const { approval } = event.data;
      receive(format.permissionRequest("s", approval, actionView(approval.action, "/w")));
    }
    return check.problems;
  });
}

test.each(EVENT_TYPES)("translates any %s into messages that match the schemas of both versions", (type) => {
  const property = fc.property(eventsOf(type), (event) => {
    expect(schemaProblems(event)).toEqual([]);
  });
  fc.assert(property, { seed: 20_300_101, numRuns: 25 });
});
