import { PassThrough, Readable } from "node:stream";
import { expect, test } from "vitest";
import { StderrTail } from "./stderr-tail.ts";

test("holds the last twenty lines once the process has exited", async () => {
  const written = Array.from({ length: 5_000 }, (_, line) => `line ${line}\n`);
  const tail = new StderrTail(Readable.from([...written, "\n\n"]));
  await tail.ended;
  expect(tail.lines.split("\n")).toEqual(written.slice(-20).map((line) => line.trim()));
  expect(tail.text).toHaveLength(8_192);
});

test("joins a character that arrives in two pieces, and passes everything on", async () => {
  const received: string[] = [];
  const bytes = Buffer.from("größe");
  const stderr = new PassThrough();
  const tail = new StderrTail(stderr, { maxCharacters: 3, onText: (text) => received.push(text) });
  for (const byte of bytes) stderr.write(Buffer.of(byte));
  stderr.end();
  await tail.ended;
  expect([received.join(""), tail.text]).toEqual(["größe", "öße"]);
});

test("ends also when another process holds the stream open, or when it breaks", async () => {
  const held = new PassThrough();
  const tail = new StderrTail(held);
  held.write("before the end");
  tail.finish();
  await tail.ended;
  expect(tail.lines).toBe("before the end");
  const broken = new PassThrough();
  const last = new StderrTail(broken);
  broken.destroy(new Error("gone"));
  await last.ended;
  expect(last.lines).toBe("");
});
