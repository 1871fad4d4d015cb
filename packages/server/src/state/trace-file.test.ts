import { writeSync } from "node:fs";
import { chmod, readFile, stat, symlink, writeFile } from "node:fs/promises";
import { temporaryFolder } from "@flint/testkit";
import { expect, test } from "vitest";
import { ConfigError } from "../config/parse.ts";
import { TraceFile, type TraceFileOptions } from "./trace-file.ts";

/** Concatenated, so that key scanners do not report this file. */
const KEY = `sk-${"aB3dE6gH9jK2mN5pQ8sT1vX4zC7".slice(0, 24)}`;

async function traced(
  options: Partial<TraceFileOptions>,
  use: (file: TraceFile) => void,
): Promise<unknown[]> {
  const folder = await temporaryFolder();
  const file = TraceFile.open(folder.join("trace.jsonl"), { secrets: [], now: () => 7, ...options });
  use(file);
  file.close();
  const text = await readFile(folder.join("trace.jsonl"), "utf8");
  return text.split("\n").flatMap((line): unknown[] => (line === "" ? [] : [JSON.parse(line)]));
}

test("records every line to and from an agent in order, with its agent and time", async () => {
  const lines = await traced({}, (file) => {
    const claude = file.of("claude");
    claude("out", "raw", '{"a":1}');
    file.of("codex")("in", "failed", "not JSON");
    claude("in", "raw", "ü\n");
  });
  expect(lines).toEqual([
    { at: 7, agent: "claude", direction: "out", stage: "raw", payload: '{"a":1}' },
    { at: 7, agent: "codex", direction: "in", stage: "failed", payload: "not JSON" },
    { at: 7, agent: "claude", direction: "in", stage: "raw", payload: "ü\n" },
  ]);
});

test("appends lines as they come, also in another run", async () => {
  const folder = await temporaryFolder();
  const path = folder.join("trace.jsonl");
  for (const payload of ["first", "second"]) {
    const file = TraceFile.open(path, { secrets: [] });
    file.of("claude")("in", "raw", payload);
    await new Promise((resolve) => setImmediate(resolve));
    expect(await readFile(path, "utf8")).toContain(payload);
    file.close();
  }
  expect((await readFile(path, "utf8")).trim().split("\n").length).toBe(2);
});

test("redacts keys and secrets, also where they are escaped or truncated [P31]", async () => {
  const secret = 'with "quotes" in it';
  const lines = await traced({ secrets: [secret], caps: { maxLine: 40, maxTotal: 1000 } }, (file) => {
    const trace = file.of("claude");
    trace("in", "raw", `key ${KEY}`);
    trace("out", "raw", JSON.stringify({ secret }));
    trace("in", "raw", `${"x".repeat(30)} ${KEY}`);
  });
  const text = JSON.stringify(lines);
  expect(text).not.toContain(KEY.slice(0, 8));
  expect(text).not.toContain("quotes");
  expect(text).toContain("[redacted:api-key]");
});

test("truncates a long line, and notes once that the file is full, also if it was full before", async () => {
  const caps = { maxLine: 10, maxTotal: 25 };
  const lines = await traced({ caps }, (file) => {
    for (const letter of "abcd") file.of("codex")("in", "raw", letter.repeat(12));
  });
  expect(lines).toMatchObject([
    { payload: "aaaaaaaaaa [cut: 12 characters in all]" },
    { payload: "bbbbbbbbbb [cut: 12 characters in all]" },
    { payload: "[trace stops here: 25 characters traced]" },
  ]);
  const folder = await temporaryFolder();
  const path = folder.join("full");
  await writeFile(path, "x".repeat(100));
  const file = TraceFile.open(path, { secrets: [], caps });
  file.of("codex")("in", "raw", "more");
  file.close();
  expect(await readFile(path, "utf8")).toContain("[trace stops here");
});

test("is readable by its owner only, also if it was readable by everyone before [P30]", async () => {
  const folder = await temporaryFolder();
  const path = folder.join("trace.jsonl");
  TraceFile.open(path, { secrets: [] }).close();
  expect((await stat(path)).mode & 0o777).toBe(0o600);
  await chmod(path, 0o666);
  TraceFile.open(path, { secrets: [] }).close();
  expect((await stat(path)).mode & 0o777).toBe(0o600);
});

test("rejects a link, a folder and a missing folder with a hint", async () => {
  const folder = await temporaryFolder();
  await writeFile(folder.join("target"), "");
  await symlink(folder.join("target"), folder.join("link"));
  for (const path of [folder.join("link"), folder.path, folder.join("none", "trace"), "/dev/null"]) {
    const open = () => TraceFile.open(path, { secrets: [] });
    expect(open).toThrow(ConfigError);
    expect(open).toThrow(`Cannot write the trace to ${path}`);
  }
});

test("a full disk ends the trace and nothing else", async () => {
  let writes = 0;
  const write = (): never => {
    writes += 1;
    throw new Error("no space left on device");
  };
  const lines = await traced({ write }, (file) => {
    const trace = file.of("claude");
    for (let count = 0; count < 3; count += 1) trace("in", "raw", "x".repeat(60_000));
    file.close();
    trace("in", "raw", "too late");
  });
  expect({ writes, lines }).toEqual({ writes: 1, lines: [] });
});

test("partial writes are completed", async () => {
  const write = (file: number, bytes: Buffer, at: number) =>
    writeSync(file, bytes, at, Math.min(3, bytes.length - at));
  const lines = await traced({ write }, (file) => file.of("claude")("in", "raw", "hello"));
  expect(lines).toMatchObject([{ payload: "hello" }]);
});
