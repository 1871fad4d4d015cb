import { mkdir, readFile, writeFile } from "node:fs/promises";
import type { StoredEvent } from "@flint/protocol";
import {
  allTurns,
  expectedState,
  listQuery,
  readAll,
  type TemporaryFolder,
  temporaryFolder,
  WrittenThread,
} from "@flint/testkit";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { JsonlStore } from "./jsonl-store.ts";

const LINE_END = 10;
/** Far enough apart that no flipped bit turns one into another. */
const TURN_IDS = ["alpha", "bravo", "charlie", "delta"];
const EVERYTHING = listQuery({ limit: 1000 });

/** A log as it was written: one line for each event, after the header. */
interface Sample {
  readonly folder: TemporaryFolder;
  readonly store: JsonlStore;
  readonly bytes: Buffer;
  readonly lines: readonly Buffer[];
  readonly events: readonly StoredEvent[];
}

async function writeSample(turns = TURN_IDS.length): Promise<Sample> {
  const folder = await temporaryFolder();
  const store = new JsonlStore({ root: folder.path, durability: "relaxed" });
  const thread = await WrittenThread.create(store, { model: "a/b" }, "sample");
  for (let index = 0; index < turns; index += 1) thread.turn(TURN_IDS[index] ?? "", `Grüße ${index} 🙂`);
  await thread.writer.close();
  const bytes = await readFile(folder.join("threads/sample/events.jsonl"));
  const lines = bytes.toString("latin1").split("\n").slice(0, -1);
  return {
    folder,
    store,
    bytes,
    lines: lines.map((line) => Buffer.from(line, "latin1")),
    events: thread.events,
  };
}

let copies = 0;

/** Writes a log with this content into the store of the sample and returns the id of its thread. */
async function writeLog({ folder }: Sample, bytes: Uint8Array): Promise<string> {
  copies += 1;
  const threadId = `copy-${copies}`;
  await mkdir(folder.join("threads", threadId));
  await writeFile(folder.join("threads", threadId, "events.jsonl"), bytes);
  return threadId;
}

function joined(lines: readonly Uint8Array[]): Buffer {
  return Buffer.concat(lines.flatMap((line) => [line, Buffer.from("\n")]));
}

/** Reports whether the line of an event, with the line ends around it, is the same in both logs. */
function isUntouched(before: Buffer, after: Buffer, line: number): boolean {
  let start = 0;
  for (let index = 0; index < line; index += 1) start = before.indexOf(LINE_END, start) + 1;
  const end = before.indexOf(LINE_END, start) + 1;
  return before.subarray(start - 1, end).equals(after.subarray(start - 1, end));
}

/** Checks that any log opens, pages and lists, and that what is appended is readable and changes nothing else. */
async function expectUsable({ folder, store }: Sample, threadId: string): Promise<void> {
  const before = await readAll(store, threadId);
  const bytes = await readFile(folder.join("threads", threadId, "events.jsonl"));
  expect(before.map(({ seq }) => seq)).toEqual(
    before.map(({ seq }) => seq).toSorted((one, other) => one - other),
  );
  const { writer, state } = await store.open(threadId);
  expect(state.thread.id).toBe(threadId);
  const turns = await allTurns(store, threadId, 2);
  expect(new Set(turns.map(({ id }) => id)).size).toBe(turns.length);
  const [added] = writer.append([{ type: "thread/name/updated", data: { threadId, name: "new" } }], 1);
  await writer.close();
  const after = await readFile(folder.join("threads", threadId, "events.jsonl"));
  expect(after.subarray(0, bytes.length).equals(bytes)).toBe(true);
  expect(await readAll(store, threadId)).toEqual([...before, added]);
  expect((await store.peek(threadId)).state.thread.name).toBe("new");
}

const garbage = fc
  .oneof(
    fc.constant(new Uint8Array(4096)),
    fc.constant(Buffer.from("{}")),
    fc.constant(Buffer.from('{"seq":3,"at":1,"type":"turn/started","data":{"turn":7}}')),
    fc.constant(Uint8Array.of(0xff, 0xfe, 0x80)),
    fc.uint8Array({ minLength: 1, maxLength: 80 }),
  )
  .map((bytes) => Buffer.concat([Buffer.from("#"), bytes.filter((byte) => byte !== LINE_END)]));

/** A change of one line of a log. */
type Edit =
  | { readonly kind: "keep" | "delete" | "repeat" }
  | { readonly kind: "replace" | "insert"; readonly bytes: Buffer }
  | { readonly kind: "cut"; readonly share: number };

const KEEP: Edit = { kind: "keep" };
const edit: fc.Arbitrary<Edit> = fc.oneof(
  { weight: 8, arbitrary: fc.constant(KEEP) },
  { weight: 1, arbitrary: fc.constantFrom<Edit>({ kind: "delete" }, { kind: "repeat" }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constantFrom("replace", "insert"), bytes: garbage }) },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant("cut"), share: fc.double({ min: 0, max: 0.99, noNaN: true }) }),
  },
);

/** The lines that an edit leaves of one, and how many of them are unreadable. */
function apply(line: Buffer, change: Edit): { lines: Buffer[]; survives: boolean; unreadable: number } {
  switch (change.kind) {
    case "keep":
      return { lines: [line], survives: true, unreadable: 0 };
    case "delete":
      return { lines: [], survives: false, unreadable: 0 };
    case "repeat":
      return { lines: [line, line], survives: true, unreadable: 1 };
    case "replace":
      return { lines: [change.bytes], survives: false, unreadable: 1 };
    case "insert":
      return { lines: [change.bytes, line], survives: true, unreadable: 1 };
    case "cut": {
      const length = Math.floor(line.length * change.share);
      return { lines: [line.subarray(0, length)], survives: false, unreadable: length === 0 ? 0 : 1 };
    }
  }
}

describe("a damaged log", () => {
  test("returns every record whose line is intact, wherever bytes are flipped", async () => {
    const sample = await writeSample();
    const flip = fc.tuple(fc.nat(sample.bytes.length - 1), fc.integer({ min: 1, max: 255 }));
    const property = fc.asyncProperty(fc.array(flip, { minLength: 1, maxLength: 4 }), async (flips) => {
      const bytes = Buffer.from(sample.bytes);
      for (const [at, mask] of flips) bytes[at] = (bytes[at] ?? 0) ^ mask;
      const threadId = await writeLog(sample, bytes);
      const read = await readAll(sample.store, threadId);
      const untouched = sample.events.filter((_, index) => isUntouched(sample.bytes, bytes, index + 1));
      expect(read).toEqual(expect.arrayContaining(untouched));
      await expectUsable(sample, threadId);
    });
    await fc.assert(property, { numRuns: 60 });
  });

  test("skips and counts exactly the damaged records", async () => {
    const sample = await writeSample();
    // The first line is the header, which counts as a record that is damaged and never as one that is missing.
    const edits = fc.array(edit, { minLength: sample.lines.length - 1, maxLength: sample.lines.length - 1 });
    const property = fc.asyncProperty(edits, async (changes) => {
      const [header = Buffer.alloc(0), ...records] = sample.lines;
      const edited = records.map((line, index) => apply(line, changes[index] ?? KEEP));
      const threadId = await writeLog(sample, joined([header, ...edited.flatMap(({ lines }) => lines)]));
      const survivors = sample.events.filter((_, index) => edited[index]?.survives);
      expect(await readAll(sample.store, threadId)).toEqual(survivors);
      const { damage } = await sample.store.peek(threadId);
      const unreadable = edited.reduce((sum, one) => sum + one.unreadable, 0);
      const lost = (survivors.at(-1)?.seq ?? 0) - survivors.length;
      expect(damage.records).toBe(unreadable);
      expect(damage.missing).toBeLessThanOrEqual(lost);
      expect(damage.records + damage.missing).toBeGreaterThanOrEqual(lost);
      await expectUsable(sample, threadId);
    });
    await fc.assert(property, { numRuns: 60 });
  });

  test("is read to its torn end, the next record starts on a new line, and one record is reported lost [P18]", async () => {
    const sample = await writeSample(1);
    const last = sample.lines.at(-1) ?? Buffer.alloc(0);
    for (let cut = 1; cut < last.length; cut += 17) {
      const threadId = await writeLog(sample, sample.bytes.subarray(0, sample.bytes.length - 1 - cut));
      const { damage, state, writer } = await sample.store.open(threadId);
      expect(damage).toEqual({ records: 1, missing: 0 });
      expect(state.seq).toBe(sample.events.length - 1);
      await writer.close();
      await expectUsable(sample, threadId);
      expect((await sample.store.peek(threadId)).damage).toEqual({ records: 1, missing: 0 });
    }
  });

  test("loses nothing when only its last line end is missing", async () => {
    const sample = await writeSample(1);
    const threadId = await writeLog(sample, sample.bytes.subarray(0, -1));
    expect(await readAll(sample.store, threadId)).toEqual(sample.events);
    expect((await sample.store.peek(threadId)).damage).toEqual({ records: 0, missing: 0 });
    await expectUsable(sample, threadId);
  });

  test.each([
    ["is missing", (lines: readonly Buffer[]) => joined(lines.slice(1))],
    ["is torn", (lines: readonly Buffer[]) => joined([Buffer.from('{"flint":"thr'), ...lines.slice(1)])],
    ["is empty", (lines: readonly Buffer[]) => joined([Buffer.alloc(0), ...lines.slice(1)])],
    ["is after garbage", (lines: readonly Buffer[]) => joined([Buffer.from("?"), ...lines])],
  ])("opens and is listed when its header %s", async (_, change) => {
    const sample = await writeSample(1);
    const threadId = await writeLog(sample, change(sample.lines));
    const { epoch, state, damage } = await sample.store.peek(threadId);
    expect(epoch).toMatch(/^(recovered-copy-\d+|[0-9a-f-]{36})$/);
    expect(damage).toEqual({ records: 1, missing: 0 });
    expect(state).toEqual({
      ...expectedState(threadId, sample.events),
      thread: { ...state.thread, model: "a/b" },
    });
    await expectUsable(sample, threadId);
    const store = new JsonlStore({ root: sample.folder.path, durability: "relaxed" });
    expect((await store.list(EVERYTHING)).data.map(({ id }) => id)).toContain(threadId);
    await store.close();
  });

  test("returns a turn whose start or end is lost", async () => {
    const sample = await writeSample(3);
    const isOf = (line: Buffer, type: string, turnId: string): boolean =>
      line.includes(`"type":"${type}"`) && line.includes(`"id":"${turnId}"`);
    const lines = sample.lines.filter(
      (line) => !isOf(line, "turn/completed", "alpha") && !isOf(line, "turn/started", "bravo"),
    );
    const threadId = await writeLog(sample, joined(lines));
    const whole = await allTurns(sample.store, "sample", 10);
    const left = await allTurns(sample.store, threadId, 10);
    expect(left.map(({ id, status }) => [id, status])).toEqual([
      ["alpha", "interrupted"],
      ["bravo", "completed"],
      ["charlie", "completed"],
    ]);
    expect(left.map(({ items }) => items)).toEqual(whole.map(({ items }) => items));
  });

  test("ends a turn that lost its end when another one follows, and starts one that lost its start", async () => {
    const sample = await writeSample(2);
    const lost = sample.lines.findIndex((line) => line.includes('"turn/completed"'));
    const lines = sample.lines.toSpliced(lost, 2);
    const { state, damage } = await sample.store.peek(await writeLog(sample, joined(lines)));
    expect(damage).toEqual({ records: 0, missing: 2 });
    expect(state.activeTurnId).toBeUndefined();
    expect(state.turns.map(({ id, status }) => [id, status])).toEqual([["bravo", "completed"]]);
  });

  test("is read from a number on although an earlier number is wrong", async () => {
    const sample = await writeSample();
    const lines = sample.lines.map((line) =>
      Buffer.from(
        line.toString("utf8").replace('{"seq":20,', '{"seq":02,').replace('{"seq":25,', '{"seq":3,'),
      ),
    );
    const threadId = await writeLog(sample, joined(lines));
    const expected = sample.events.filter(({ seq }) => seq > 10 && seq !== 20 && seq !== 25);
    expect(await readAll(sample.store, threadId, 10)).toEqual(expected);
  });

  test("loses a record with an invalid byte, and only that one", async () => {
    const sample = await writeSample(1);
    const at = sample.lines.findIndex((line) => line.includes("Gr"));
    const broken = Buffer.from(sample.lines[at] ?? "");
    broken[broken.indexOf("Gr") + 1] = 0xff;
    const threadId = await writeLog(sample, joined(sample.lines.with(at, broken)));
    expect(await readAll(sample.store, threadId)).toEqual(sample.events.toSpliced(at - 1, 1));
    expect((await sample.store.peek(threadId)).damage).toEqual({ records: 1, missing: 0 });
  });

  test("does not load a line that is too long to be a record", async () => {
    const sample = await writeSample(1);
    const endless = Buffer.alloc(65 * 1024 * 1024, "x");
    const threadId = await writeLog(
      sample,
      joined([...sample.lines.slice(0, 4), endless, ...sample.lines.slice(4)]),
    );
    expect(await readAll(sample.store, threadId)).toEqual(sample.events);
    expect((await sample.store.peek(threadId)).damage).toEqual({ records: 1, missing: 0 });
    expect(await allTurns(sample.store, threadId, 1)).toEqual(await allTurns(sample.store, "sample", 1));
  });
});
