import { readFileSync } from "node:fs";
import type { StoredEvent } from "@flint/protocol";
import { expectGolden } from "@flint/testkit";
import { expect, test } from "vitest";
import { abilitiesOfV2, NO_ABILITIES } from "../capabilities.ts";
import type { SessionWords } from "../protocol-version.ts";
import { MessageCheck } from "../testing/schema-check.ts";
import { V1_WORDS } from "../v1/protocol.ts";
import { V2_WORDS } from "../v2/protocol.ts";

const LOG = new URL("../../fixtures/turns.events.jsonl", import.meta.url);

/** The log of a real thread, with its ids, times and folder made even. */
const events = readFileSync(LOG, "utf8")
  .trimEnd()
  .split("\n")
  .map((line) => JSON.parse(line) as StoredEvent);

/** What one client is sent of an event, before and after which nothing else happens. */
function messagesOf(words: SessionWords, event: StoredEvent): object[] {
  const told = words.translate(event, () => true).updates();
  const asked = event.type === "approval/requested" ? event.data.approval : undefined;
  const before = asked === undefined ? [] : words.beforeApproval(asked);
  const params = [...told, ...before].map((update) => ({ sessionId: "id-1", update }));
  const tells = params.map((tell) => ({ method: "session/update", params: tell }));
  return asked === undefined ? tells : [...tells, words.permission(asked)];
}

test.each([
  ["v1", V1_WORDS, NO_ABILITIES],
  ["v2", V2_WORDS, abilitiesOfV2({})],
] as const)("a recorded thread becomes exactly these messages in %s", (name, words, abilities) => {
  const session = words.open("id-1", abilities);
  const messages = events.flatMap((event) => messagesOf(session, event));
  const check = new MessageCheck(words.version);
  for (const message of messages) check.received({ jsonrpc: "2.0", ...message });
  expect(check.problems).toEqual([]);
  expectGolden(new URL(`./fixtures/turns.${name}.jsonl`, import.meta.url), messages);
});
