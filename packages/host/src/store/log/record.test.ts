import { type EventBody, persistenceOf, type StoredEvent } from "@flint/protocol";
import { EVENT_TYPES, eventsOf } from "@flint/testkit";
import fc from "fast-check";
import { expect, test } from "vitest";
import { decodeLine, encodeHeader, encodeRecord, parsePrefix, wellFormed } from "./record.ts";

const NAMED: EventBody = { type: "thread/name/updated", data: { threadId: "t", name: "n" } };

test("a record is one line with its keys in a fixed order", () => {
  expect(encodeRecord(7, 1763, NAMED)).toBe(
    '{"seq":7,"at":1763,"type":"thread/name/updated","data":{"threadId":"t","name":"n"}}',
  );
});

test.each(EVENT_TYPES.filter((type) => persistenceOf(type) !== "live"))(
  "reads any event %s as it was written",
  (type) => {
    fc.assert(
      fc.property(eventsOf(type), fc.integer({ min: 1 }), (event, seq) => {
        const line = encodeRecord(seq, event.at, event);
        expect(line).not.toContain("\n");
        const read = decodeLine(line);
        const written: unknown = JSON.parse(line);
        expect(read).toEqual({ kind: "event", event: written });
        expect(parsePrefix(line)).toMatchObject({ seq, type });
      }),
      { numRuns: 5 },
    );
  },
);

test("replaces lone surrogates and writes any other text unchanged", () => {
  const texts = fc.array(
    fc.oneof(fc.string({ unit: "binary" }), fc.constantFrom("\ud800", "\udfff", "\\ud800", "\\")),
  );
  fc.assert(
    fc.property(texts, (parts) => {
      const text = parts.join("");
      const read: unknown = JSON.parse(wellFormed(JSON.stringify({ [text]: text })));
      const well = Buffer.from(text, "utf8").toString("utf8");
      expect(read).toEqual({ [well]: well });
    }),
  );
});

test("decodes anything else as damage and never throws", () => {
  const damaged = ["{", "42", "null", "[]", '"s"', "{}", "\0\0\0", "\0{}", '{"seq":1}', "[".repeat(100_000)];
  for (const line of damaged) expect(decodeLine(line), line.slice(0, 20)).toEqual({ kind: "damaged" });
  fc.assert(fc.property(fc.string({ unit: "binary" }), (text) => void decodeLine(text)));
});

test.each([
  ["a fractional number", { seq: 1.5 }],
  ["a negative number", { seq: -1 }],
  ["a number that is too large", { seq: 2 ** 60 }],
  ["no time", { at: undefined }],
  ["no type", { type: 7 }],
  ["data that is not an object", { data: [] }],
  ["data that lacks required fields", { data: { threadId: "t" } }],
])("a record with %s is damage", (_, change) => {
  const line = JSON.stringify({ seq: 1, at: 1, ...NAMED, ...change });
  expect(decodeLine(line)).toEqual({ kind: "damaged" });
});

test("never reads a damaged decision as a wider permission", () => {
  const resolved = (decision: object): string =>
    JSON.stringify({
      seq: 1,
      at: 1,
      type: "approval/resolved",
      data: {
        threadId: "t",
        turnId: "u",
        approvalId: "a",
        itemId: "i",
        resolution: { decision, by: "client" },
      },
    });
  expect(decodeLine(resolved({ outcome: "allow", scope: "once" })).kind).toBe("event");
  expect(decodeLine(resolved({ outcome: "allow", scope: "onze" })).kind).toBe("damaged");
  expect(decodeLine(resolved({ outcome: "allow", scape: "once" })).kind).toBe("damaged");
});

test("reads the number of a record of a later version", () => {
  const line = '{"seq":3,"at":1,"type":"thread/dreamt","data":{}}';
  expect(decodeLine(line)).toEqual({ kind: "foreign", seq: 3 });
});

test("reads a record after a block of NULs", () => {
  const event: StoredEvent = { seq: 1, at: 1, ...NAMED };
  expect(decodeLine(`\0\0\0${encodeRecord(1, 1, NAMED)}`)).toEqual({ kind: "event", event });
});

test("a header is distinguished from records", () => {
  const header = { version: 1, epoch: "e", createdAtMs: 5 };
  expect(decodeLine(encodeHeader("t", header))).toEqual({ kind: "header", header });
  expect(decodeLine('{"flint":"thread-log"}')).toEqual({ kind: "damaged" });
  expect(decodeLine("")).toEqual({ kind: "blank" });
});

test("reads the prefix of a record without parsing it", () => {
  const inTurn = { threadId: "t", turnId: "u" };
  const item = { type: "agentMessage" as const, id: "i", text: "" };
  const delta: EventBody = {
    type: "item/agentMessage/delta",
    data: { ...inTurn, itemId: "i", delta: "", offset: 0 },
  };
  expect(parsePrefix(encodeRecord(5, 1, delta))).toEqual({
    seq: 5,
    type: delta.type,
    turnId: "u",
    itemId: "i",
  });
  const started: EventBody = { type: "item/started", data: { ...inTurn, item } };
  expect(parsePrefix(encodeRecord(6, 1, started))).toEqual({
    seq: 6,
    type: started.type,
    turnId: "u",
    itemId: "i",
  });
  expect(parsePrefix(encodeRecord(7, 1, NAMED))).toMatchObject({ seq: 7, turnId: undefined });
  expect(parsePrefix('{"type":"x","seq":1}')).toBeUndefined();
});

test.each([
  ["an unknown sandbox policy", { sandboxPolicy: { type: "none" } }],
  ["a sandbox policy that is not an object", { sandboxPolicy: "dangerFullAccess" }],
  ["no approval policy", { approvalPolicy: undefined }],
  ["an unknown approval policy", { approvalPolicy: "sometimes" }],
])("settings with %s are damage, and never read as a weaker policy", (_, change) => {
  const settings = {
    ...{ model: "flint/offline", cwd: "/code", approvalPolicy: "always", config: {} },
    sandboxPolicy: { type: "readOnly" },
  };
  const line = (given: object) =>
    JSON.stringify({
      ...{ seq: 1, at: 1, type: "thread/settings/updated" },
      data: { threadId: "t", settings: given },
    });
  expect(decodeLine(line(settings)).kind).toBe("event");
  expect(decodeLine(line({ ...settings, ...change }))).toEqual({ kind: "damaged" });
});
