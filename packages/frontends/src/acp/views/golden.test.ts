import { readFileSync } from "node:fs";
import type { StoredEvent } from "@flint/protocol";
import { expectGolden } from "@flint/testkit";
import { expect, test } from "vitest";
import { capabilitiesV2, NO_CAPABILITIES } from "../capabilities.ts";
import type { UpdateFormat } from "../protocol-version.ts";
import { MessageCheck } from "../testing/schema-check.ts";
import { V1 } from "../v1/protocol.ts";
import { V2 } from "../v2/protocol.ts";
import { actionView } from "./tool-view.ts";
import { Translator } from "./translator.ts";

const LOG = new URL("../../fixtures/turns.events.jsonl", import.meta.url);
const SESSION = "id-1";

/** The log of a real thread, with normalised ids, times and folder. */
const events = readFileSync(LOG, "utf8")
  .trimEnd()
  .split("\n")
  .map((line) => JSON.parse(line) as StoredEvent);

/** The messages that a client is sent for an event. */
function messagesOf(translator: Translator, format: UpdateFormat, event: StoredEvent): object[] {
  const updates = translator.translate(event).updates();
  const approval = event.type === "approval/requested" ? event.data.approval : undefined;
  const view = approval === undefined ? undefined : actionView(approval.action, translator.cwd);
  const pending = view === undefined ? [] : translator.pendingToolCall(view);
  const notifications = [...updates, ...pending].map((update) => ({
    method: "session/update",
    params: { sessionId: SESSION, update },
  }));
  if (approval === undefined || view === undefined) return notifications;
  return [...notifications, format.permissionRequest(SESSION, approval, view)];
}

test.each([
  ["v1", V1, NO_CAPABILITIES],
  ["v2", V2, capabilitiesV2({})],
] as const)(
  "translates a recorded thread into exactly these messages in %s",
  (name, version, capabilities) => {
    const format = version.updates(capabilities);
    const translator = new Translator(format, () => true);
    const messages = events.flatMap((event) => messagesOf(translator, format, event));
    const check = new MessageCheck(version.version);
    for (const message of messages) check.received({ jsonrpc: "2.0", ...message });
    expect(check.problems).toEqual([]);
    expectGolden(new URL(`./fixtures/turns.${name}.jsonl`, import.meta.url), messages);
  },
);
