import { execFileSync } from "node:child_process";
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { needs, temporaryFolder } from "@flint/testkit";
import { expect, test } from "vitest";
import { callTool } from "../../testing/recorded-turn.ts";
import { FileVersions } from "./file-versions.ts";
import { readFileTool } from "./read-file.ts";

const READ_FILE = readFileTool(new FileVersions());

test("reads a file with line numbers as a call without approval", async () => {
  const folder = await temporaryFolder();
  writeFileSync(folder.join("a.txt"), "one\ntwo\n");
  const { turn, text } = await callTool(READ_FILE, { path: "a.txt" }, folder);
  expect(text).toBe("1\tone\n2\ttwo");
  expect(turn.actions).toEqual([]);
  expect(turn.completed("toolCall")).toEqual([
    {
      type: "toolCall",
      id: "item",
      tool: "read_file",
      title: "Reads a.txt",
      arguments: { path: "a.txt" },
      status: "completed",
      result: text,
    },
  ]);
});

test("reads a range of lines and notes what is left out", async () => {
  const folder = await temporaryFolder();
  writeFileSync(folder.join("a"), Array.from({ length: 5000 }, (_, index) => `line ${index + 1}`).join("\n"));
  const part = await callTool(READ_FILE, { path: "a", offset: 10, limit: 2 }, folder);
  expect(part.text).toBe("10\tline 10\n11\tline 11\n(lines 10 to 11 of 5000; continue with offset 12)");
  const first = await callTool(READ_FILE, { path: "a" }, folder);
  expect(first.text.split("\n").at(-1)).toBe("(lines 1 to 2000 of 5000; continue with offset 2001)");
  const beyond = await callTool(READ_FILE, { path: "a", offset: 6000 }, folder);
  expect(beyond.text).toBe("(The file has only 5000 lines.)");
});

test("notes CRLF, a byte order mark and a missing final newline", async () => {
  const folder = await temporaryFolder();
  writeFileSync(folder.join("a"), "\ufeffone\r\ntwo");
  expect((await callTool(READ_FILE, { path: "a" }, folder)).text).toBe(
    "1\tone\n2\ttwo\n(lines end with CRLF; begins with a byte order mark; no newline at the end)",
  );
  writeFileSync(folder.join("empty"), "");
  expect((await callTool(READ_FILE, { path: "empty" }, folder)).text).toBe("(The file is empty.)");
});

test("truncates an endless line", async () => {
  const folder = await temporaryFolder();
  writeFileSync(folder.join("a"), "x".repeat(100_000));
  const { text } = await callTool(READ_FILE, { path: "a" }, folder);
  expect(text).toMatch(/^1\tx{2000} … \(98000 more characters\)\n\(no newline at the end\)$/);
});

test("rejects what is not a text file", async () => {
  const folder = await temporaryFolder();
  writeFileSync(folder.join("picture"), Buffer.from([0x89, 0x50, 0, 0, 1]));
  writeFileSync(folder.join("huge"), Buffer.alloc(9 * 1024 * 1024, "x"));
  mkdirSync(folder.join("folder"));
  const resultOf = async (path: string) => {
    const { status, text } = await callTool(READ_FILE, { path }, folder);
    return `${status}: ${text}`;
  };
  expect(await resultOf("picture")).toBe("failed: picture is not text (5 bytes).");
  expect(await resultOf("huge")).toMatch(/^failed: huge is too large: 9437184 bytes/);
  expect(await resultOf("folder")).toBe("failed: folder is a folder.");
  expect(await resultOf("missing")).toBe("failed: missing does not exist.");
  expect(await resultOf("a\0b")).toBe("failed: That is not a valid file name.");
});

test("does not read devices and kernel files under any name [P31]", async () => {
  const folder = await temporaryFolder();
  symlinkSync("/proc/self/environ", folder.join("harmless.txt"));
  symlinkSync("/proc/self", folder.join("me"));
  const paths = [
    "/proc/self/environ",
    `/proc/${process.pid}/environ`,
    "/proc/1/environ",
    "/dev/zero",
    "/dev/stdin",
  ];
  const ways = [
    "harmless.txt",
    "me/environ",
    "/proc/self/root/proc/self/environ",
    "/proc/../proc/self/environ",
  ];
  for (const path of [...paths, ...ways, "/proc/self/fd/0", "/sys/kernel/notes"]) {
    const { status, text } = await callTool(READ_FILE, { path }, folder);
    expect({ path, status, text }).toEqual({
      path,
      status: "failed",
      text: expect.stringMatching(/belongs to the system|does not exist|cannot be reached|not a plain file/),
    });
  }
});

needs("sh")("does not wait for a pipe without a writer", async () => {
  const folder = await temporaryFolder();
  execFileSync("mkfifo", [folder.join("pipe")]);
  expect((await callTool(READ_FILE, { path: "pipe" }, folder)).text).toBe("pipe is not a plain file.");
});

test("asks before reading outside of the workspace only if everything needs approval", async () => {
  const folder = await temporaryFolder();
  const outside = await temporaryFolder();
  writeFileSync(outside.join("secret"), "theirs\n");
  symlinkSync(outside.join("secret"), folder.join("link"));
  const denied = await callTool(READ_FILE, { path: "link" }, folder, { decide: () => "deny" });
  expect(denied).toMatchObject({ status: "failed" });
  expect(denied.text).not.toContain("theirs");
  expect(denied.turn.actions).toMatchObject([
    { kind: "tool", tool: "read_file", arguments: { path: outside.join("secret") } },
  ]);
  const allowed = await callTool(READ_FILE, { path: "link" }, folder);
  expect(allowed.text).toBe("1\ttheirs");
  const free = await callTool(READ_FILE, { path: "link" }, folder, {
    settings: { approvalPolicy: "unlessTrusted" },
  });
  expect([free.text, free.turn.actions]).toEqual(["1\ttheirs", []]);
});

test("rejects invalid input with the reason", async () => {
  const folder = await temporaryFolder();
  const resultOf = async (input: Record<string, unknown>) => (await callTool(READ_FILE, input, folder)).text;
  expect(await resultOf({})).toBe("read_file: path is missing.");
  expect(await resultOf({ path: 5 })).toBe("read_file: path must be a string.");
  expect(await resultOf({ path: "a", offset: 0 })).toMatch(/^read_file: offset must be a whole number/);
  expect(await resultOf({ path: "a", lines: 5 })).toBe(
    "read_file: lines is not a known field; expected path, offset, limit.",
  );
});
