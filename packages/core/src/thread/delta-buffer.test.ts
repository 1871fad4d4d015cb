import { appendAt, type DeltaBody } from "@flint/protocol";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { Redactor } from "../redact/index.ts";
import { DeltaBuffer, type DeltaTarget } from "./delta-buffer.ts";

function place(itemId: string): DeltaTarget {
  return { type: "item/agentMessage/delta", threadId: "t", turnId: "u", itemId };
}

function texts(bodies: readonly DeltaBody[]): [string, number, string][] {
  return bodies.map(({ data }) => [data.itemId, data.offset, data.delta]);
}

const none = () => 0;

describe("DeltaBuffer", () => {
  test("sends pieces of one item that arrive together as one", () => {
    const buffer = new DeltaBuffer(new Redactor([]));
    for (const piece of ["one ", "two"]) buffer.push(place("a"), piece, none);
    buffer.push(place("b"), "three", none);
    buffer.push(place("a"), "four", none);
    expect(texts(buffer.takePending())).toEqual([
      ["a", 0, "one two"],
      ["b", 0, "three"],
      ["a", 7, "four"],
    ]);
    expect(buffer.hasPending).toBe(false);
  });

  test("merges what was sent into one piece per item until it is stored", () => {
    const buffer = new DeltaBuffer(new Redactor([]));
    buffer.push(place("a"), "one ", none);
    buffer.takePending();
    buffer.push(place("b"), "é", none);
    buffer.push(place("a"), "two", none);
    buffer.takePending();
    const expected = [
      ["a", 0, "one two"],
      ["b", 0, "é"],
    ];
    expect(texts(buffer.unstored())).toEqual(expected);
    expect(texts(buffer.unstored())).toEqual(expected);
    expect(buffer.unstoredBytes).toBe(9);
    buffer.markStored();
    expect([buffer.unstored(), buffer.hasUnstored, buffer.unstoredBytes]).toEqual([[], false, 0]);
  });

  test("starts at the end of the item's text and continues where the last piece ended", () => {
    const buffer = new DeltaBuffer(new Redactor([]));
    buffer.push(place("a"), "x", () => 10);
    buffer.takePending();
    buffer.push(place("a"), "y", () => 999);
    expect(texts(buffer.takePending())).toEqual([["a", 11, "y"]]);
    buffer.reset();
    buffer.push(place("a"), "z", () => 3);
    expect(texts(buffer.takePending())).toEqual([["a", 3, "z"]]);
  });

  test("joins split surrogate pairs and replaces lone surrogates", () => {
    const buffer = new DeltaBuffer(new Redactor([]));
    const [high = "", low = ""] = "😀".split("");
    buffer.push(place("a"), `x${high}`, none);
    expect(texts(buffer.takePending())).toEqual([["a", 0, "x"]]);
    buffer.push(place("a"), `${low}y${low}`, none);
    expect(texts(buffer.takePending())).toEqual([["a", 1, "😀y\ufffd"]]);
    buffer.push(place("a"), high, none);
    expect(buffer.hasPending).toBe(false);
    buffer.push(place("a"), "z", none);
    expect(texts(buffer.takePending())).toEqual([["a", 5, "\ufffdz"]]);
  });

  test("produces pieces that add up to the text, however it is split and sent", () => {
    const steps = fc.array(
      fc.tuple(fc.constantFrom("a", "b"), fc.string({ unit: "binary", maxLength: 12 }), fc.nat(3)),
      {
        maxLength: 12,
      },
    );
    fc.assert(
      fc.property(steps, (pushes) => {
        const buffer = new DeltaBuffer(new Redactor([]));
        const given = new Map<string, string>();
        const sent = new Map<string, string>();
        const add = (pieces: readonly DeltaBody[]) => {
          for (const { data } of pieces) {
            sent.set(data.itemId, appendAt(sent.get(data.itemId) ?? "", data.delta, data.offset));
          }
        };
        for (const [item, text, action] of pushes) {
          for (const unit of text.split("")) buffer.push(place(item), unit, none);
          given.set(item, (given.get(item) ?? "") + text);
          if (action > 0) add(buffer.takePending());
          if (action > 1) add(buffer.unstored());
          if (action > 2) buffer.markStored();
        }
        add(buffer.takePending());
        for (const [item, text] of given) expect(sent.get(item) ?? "").toBe(text);
      }),
    );
  });
});
