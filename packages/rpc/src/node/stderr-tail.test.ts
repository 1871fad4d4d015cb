import { PassThrough, Readable } from "node:stream";
import { expect, test } from "vitest";
import { StderrTail } from "./stderr-tail.ts";

test("the last twenty lines are there when the process has said all it has to say", async () => {
  const said = Array.from({ length: 5_000 }, (_, line) => `line ${line}\n`);
  const words = new StderrTail(Readable.from([...said, "\n\n"]));
  await words.ended;
  expect(words.lines.split("\n")).toEqual(said.slice(-20).map((line) => line.trim()));
  expect(words.text).toHaveLength(8_192);
});

test("a letter that comes in two pieces is one letter, and whoever wants to hears everything", async () => {
  const heard: string[] = [];
  const bytes = Buffer.from("größe");
  const stderr = new PassThrough();
  const words = new StderrTail(stderr, { keptCharacters: 3, tell: (text) => heard.push(text) });
  for (const byte of bytes) stderr.write(Buffer.of(byte));
  stderr.end();
  await words.ended;
  expect([heard.join(""), words.text]).toEqual(["größe", "öße"]);
});

test("a stream that somebody else holds open, or that breaks, has an end too", async () => {
  const held = new PassThrough();
  const words = new StderrTail(held);
  held.write("before the end");
  words.finish();
  await words.ended;
  expect(words.lines).toBe("before the end");
  const broken = new PassThrough();
  const last = new StderrTail(broken);
  broken.destroy(new Error("gone"));
  await last.ended;
  expect(last.lines).toBe("");
});
