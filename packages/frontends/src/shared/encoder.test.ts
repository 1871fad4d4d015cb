import type { ThreadEvent } from "@flint/protocol";
import { expect, test } from "vitest";
import { Encoder, type Notification } from "./encoder.ts";

const delta = (text: string): ThreadEvent => ({
  type: "item/agentMessage/delta",
  data: { threadId: "t", turnId: "u", itemId: "i", delta: text, offset: 0 },
  at: 1,
});

test("encodes an event once for all clients of the same variant", () => {
  const encoder = new Encoder<Notification>(true);
  let translations = 0;
  const translate = (): Notification[] => {
    translations += 1;
    return [{ kind: "notification", method: "session/update", params: { sessionId: "t" } }];
  };
  const first = delta("a");
  const encoded = encoder.encode(first, translate, "variant");
  expect(encoded.map(({ line }) => line)).toEqual([
    '{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"t"}}',
  ]);
  expect(encoder.encode(first, translate, "variant")).toBe(encoded);
  expect(translations).toBe(1);
  encoder.encode(first, translate, "another variant");
  encoder.encode(delta("b"), translate, "variant");
  expect(translations).toBe(3);
});
