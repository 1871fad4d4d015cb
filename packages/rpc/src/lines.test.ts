import { Buffer } from "node:buffer";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { LineReader } from "./lines.ts";

type Delivery = { line: string } | { fault: string; bytes: number };

function collect(limit = 1_000_000) {
  const got: Delivery[] = [];
  let batches = 0;
  const reader = new LineReader({
    limit,
    line: (line) => got.push({ line }),
    fault: ({ kind, bytes }) => got.push({ fault: kind, bytes }),
    batchEnd: () => {
      batches += 1;
    },
  });
  return { got, reader, batches: () => batches };
}

function readAll(chunks: (Uint8Array | string)[], limit?: number): Delivery[] {
  const { got, reader } = collect(limit);
  for (const chunk of chunks) reader.push(chunk);
  reader.end();
  return got;
}

describe("cutting lines", () => {
  it("delivers whole lines and a last line without its end", () => {
    expect(readAll(["one\ntwo\nthree"])).toEqual([{ line: "one" }, { line: "two" }, { line: "three" }]);
  });

  it("ignores blank lines, a carriage return and a byte order mark", () => {
    const bytes = Buffer.from('\r\n\n  \t\n\uFEFF{"a":1}\r\n\uFEFF\n\uFEFFb\n');
    expect(readAll([bytes])).toEqual([{ line: '{"a":1}' }, { line: "b" }]);
  });

  it("survives being fed byte by byte [S4-34, S4-42]", () => {
    const bytes = Buffer.from("héé😀\r\nsecond\n");
    const single = [...bytes].map((byte) => Uint8Array.of(byte));
    expect(readAll(single)).toEqual([{ line: "héé😀" }, { line: "second" }]);
  });

  it("survives string chunks cut inside a surrogate pair, and replaces half a pair that stays alone", () => {
    expect(readAll(["a\ud83d", "\ude00b\n"])).toEqual([{ line: "a😀b" }]);
    expect(readAll(["a\ud83d", "b\n\udc00\n"])).toEqual([{ line: "a\ufffdb" }, { line: "\ufffd" }]);
    expect(readAll(["a\ud83d"])).toEqual([{ line: "a\ufffd" }]);
    expect(readAll(["a\ud83d", Buffer.from("b\n")])).toEqual([{ line: "a\ufffdb" }]);
  });

  it("reads typed arrays that are a window into a larger buffer", () => {
    const backing = new TextEncoder().encode("xxone\nxx");
    expect(readAll([backing.subarray(2, 6)])).toEqual([{ line: "one" }]);
  });

  it("lets the caller reuse its read buffer", () => {
    const { got, reader } = collect();
    const shared = Buffer.from("abc");
    reader.push(shared);
    shared.write("xyz");
    reader.push("\n");
    expect(got).toEqual([{ line: "abc" }]);
  });

  it("ends a batch once for each chunk that delivered something", () => {
    const { reader, batches } = collect();
    reader.push("one\ntwo\nthr");
    expect(batches()).toBe(1);
    reader.push("ee");
    expect(batches()).toBe(1);
    reader.push("\n\n");
    expect(batches()).toBe(2);
    reader.push("\n");
    expect(batches()).toBe(2);
    reader.push("last");
    reader.end();
    reader.end();
    expect(batches()).toBe(3);
  });
});

describe("bad lines", () => {
  it("loses exactly the line that is not UTF-8", () => {
    const bytes = Buffer.concat([Buffer.from("one\n"), Buffer.from([0x61, 0xff]), Buffer.from("\nthrée\n")]);
    expect(readAll([bytes])).toEqual([{ line: "one" }, { fault: "encoding", bytes: 2 }, { line: "thrée" }]);
  });

  it("reports a line over the limit once, when its end is seen, and continues with the next", () => {
    const { got, reader } = collect(4);
    reader.push("1234\n12345");
    expect(got).toEqual([{ line: "1234" }]);
    reader.push("678");
    reader.push("\nok\n");
    expect(got).toEqual([{ line: "1234" }, { fault: "oversize", bytes: 8 }, { line: "ok" }]);
  });

  it("counts bytes, not characters", () => {
    expect(readAll(["éé\nééé\n"], 4)).toEqual([{ line: "éé" }, { fault: "oversize", bytes: 6 }]);
  });

  it("reports an oversized line that never ended", () => {
    expect(readAll(["123456"], 4)).toEqual([{ fault: "oversize", bytes: 6 }]);
  });

  it("names the limit", () => {
    const faults: unknown[] = [];
    const reader = new LineReader({ limit: 2, line: () => {}, fault: (fault) => faults.push(fault) });
    reader.push("abc\n");
    expect(faults).toEqual([{ kind: "oversize", bytes: 3, limit: 2 }]);
  });

  it("never holds more than the limit of a 50 MB line, and reads the next line", () => {
    const limit = 1_000_000;
    const { got, reader } = collect(limit);
    const chunk = Buffer.alloc(65_536, "x");
    const chunks = Math.ceil(50_000_000 / chunk.length);
    let most = 0;
    for (let sent = 0; sent < chunks; sent += 1) {
      reader.push(chunk);
      most = Math.max(most, reader.buffered);
    }
    reader.push('\n{"fine":true}\n');
    expect(most).toBeLessThanOrEqual(limit);
    expect(got).toEqual([{ fault: "oversize", bytes: chunks * chunk.length }, { line: '{"fine":true}' }]);
    expect(reader.buffered).toBeLessThanOrEqual(65_536);
  });

  it("gives back the memory of a long line once it is delivered", () => {
    const { got, reader } = collect(10_000_000);
    for (let sent = 0; sent < 50; sent += 1) reader.push(Buffer.alloc(100_000, "y"));
    reader.push("\nnext\n");
    expect(got.map((delivery) => ("line" in delivery ? delivery.line.length : -1))).toEqual([5_000_000, 4]);
    expect(reader.buffered).toBeLessThanOrEqual(65_536);
  });
});

const LIMIT = 64;

/** One line on the wire and what must come of it: good text, bytes that are not UTF-8, or too many bytes. */
const wireLine: fc.Arbitrary<{ bytes: Buffer; expected: Delivery }> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc
      .json()
      .filter((text) => Buffer.byteLength(text) <= LIMIT)
      .map(good),
  },
  {
    weight: 4,
    arbitrary: fc
      .string({ unit: "grapheme", minLength: 1, maxLength: 12 })
      .map((text) => `"${text.replace(/[\r\n]/g, "")}"`)
      .filter((text) => Buffer.byteLength(text) <= LIMIT)
      .map(good),
  },
  {
    weight: 2,
    arbitrary: fc
      .tuple(
        fc.string({ maxLength: 10 }),
        fc.constantFrom([0xff], [0xc3], [0xe2, 0x82], [0xc0, 0xaf], [0xed, 0xa0, 0x80]),
      )
      .map(([text, bad]) => {
        const bytes = Buffer.concat([Buffer.from(text.replace(/[\r\n]/g, "")), Buffer.from(bad)]);
        return { bytes, expected: { fault: "encoding", bytes: bytes.length } };
      }),
  },
  {
    weight: 1,
    arbitrary: fc.integer({ min: LIMIT + 1, max: LIMIT * 4 }).map((length) => {
      return { bytes: Buffer.alloc(length, "z"), expected: { fault: "oversize", bytes: length } };
    }),
  },
);

function good(text: string): { bytes: Buffer; expected: Delivery } {
  return { bytes: Buffer.from(text), expected: { line: text } };
}

function cutAt(bytes: Buffer, cuts: number[]): Buffer[] {
  const positions = [...new Set(cuts.map((cut) => cut % (bytes.length + 1)))].sort((a, b) => a - b);
  const chunks: Buffer[] = [];
  let start = 0;
  for (const place of [...positions, bytes.length]) {
    chunks.push(bytes.subarray(start, place));
    start = place;
  }
  return chunks;
}

describe("any lines in any chunks", () => {
  it("come out in order, each good one whole, each bad one as one fault [S4-34]", () => {
    fc.assert(
      fc.property(fc.array(wireLine), fc.array(fc.nat()), fc.boolean(), (lines, cuts, lastEnds) => {
        const wire = Buffer.concat(
          lines.flatMap(({ bytes }, index) =>
            index === lines.length - 1 && !lastEnds ? [bytes] : [bytes, Buffer.from("\n")],
          ),
        );
        expect(readAll(cutAt(wire, cuts), LIMIT)).toEqual(lines.map(({ expected }) => expected));
      }),
      { numRuns: 300, seed: 1 },
    );
  });

  it("come out the same from strings as from bytes", () => {
    const text = fc.array(fc.string({ unit: "binary", maxLength: 20 })).map((lines) => lines.join("\n"));
    fc.assert(
      fc.property(text, fc.array(fc.nat()), (wire, cuts) => {
        const positions = [...new Set(cuts.map((cut) => cut % (wire.length + 1)))].sort((a, b) => a - b);
        const chunks = [0, ...positions].map((place, index) =>
          wire.slice(place, positions[index] ?? wire.length),
        );
        expect(readAll(chunks, LIMIT)).toEqual(readAll([Buffer.from(wire)], LIMIT));
      }),
      { numRuns: 200, seed: 1 },
    );
  });
});
