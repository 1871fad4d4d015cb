import { execFileSync } from "node:child_process";
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { needs, temporaryFolder } from "@flint/testkit";
import { expect, test } from "vitest";
import { callTool } from "../../testing/call-tool.ts";
import { FileVersions } from "./file-versions.ts";
import { readFileTool } from "./read-file.ts";

const READ_FILE = readFileTool(new FileVersions());

test("a file is given with line numbers and shown as a call, and nobody is asked", async () => {
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

test("a part can be asked for, and what is left out is said", async () => {
  const folder = await temporaryFolder();
  writeFileSync(folder.join("a"), Array.from({ length: 5000 }, (_, index) => `line ${index + 1}`).join("\n"));
  const part = await callTool(READ_FILE, { path: "a", offset: 10, limit: 2 }, folder);
  expect(part.text).toBe("10\tline 10\n11\tline 11\n(lines 10 to 11 of 5000; read on with offset 12)");
  const first = await callTool(READ_FILE, { path: "a" }, folder);
  expect(first.text.split("\n").at(-1)).toBe("(lines 1 to 2000 of 5000; read on with offset 2001)");
  const beyond = await callTool(READ_FILE, { path: "a", offset: 6000 }, folder);
  expect(beyond.text).toBe("(The file has only 5000 lines.)");
});

test("what cannot be seen in the lines is said: line ends, a mark, a missing last line end", async () => {
  const folder = await temporaryFolder();
  writeFileSync(folder.join("a"), "\ufeffone\r\ntwo");
  expect((await callTool(READ_FILE, { path: "a" }, folder)).text).toBe(
    "1\tone\n2\ttwo\n(lines end with CRLF; begins with a byte order mark; no newline at the end)",
  );
  writeFileSync(folder.join("empty"), "");
  expect((await callTool(READ_FILE, { path: "empty" }, folder)).text).toBe("(The file is empty.)");
});

test("one endless line is cut", async () => {
  const folder = await temporaryFolder();
  writeFileSync(folder.join("a"), "x".repeat(100_000));
  const { text } = await callTool(READ_FILE, { path: "a" }, folder);
  expect(text).toMatch(/^1\tx{2000} … \(98000 more characters\)\n\(no newline at the end\)$/);
});

test("what is not a text file is refused in words", async () => {
  const folder = await temporaryFolder();
  writeFileSync(folder.join("picture"), Buffer.from([0x89, 0x50, 0, 0, 1]));
  writeFileSync(folder.join("huge"), Buffer.alloc(9 * 1024 * 1024, "x"));
  mkdirSync(folder.join("folder"));
  const told = async (path: string) => {
    const { status, text } = await callTool(READ_FILE, { path }, folder);
    return `${status}: ${text}`;
  };
  expect(await told("picture")).toBe("failed: picture is not text (5 bytes); nothing of it is shown.");
  expect(await told("huge")).toMatch(/^failed: huge is too large: 9437184 bytes/);
  expect(await told("folder")).toBe("failed: folder is a folder.");
  expect(await told("missing")).toBe("failed: missing does not exist.");
  expect(await told("a\0b")).toBe("failed: That is not the name of a file.");
});

test("devices, environments of processes and other places of the kernel are not read, by whatever name [P31]", async () => {
  const folder = await temporaryFolder();
  symlinkSync("/proc/self/environ", folder.join("harmless.txt"));
  symlinkSync("/proc/self", folder.join("me"));
  const places = [
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
  for (const path of [...places, ...ways, "/proc/self/fd/0", "/sys/kernel/notes"]) {
    const { status, text } = await callTool(READ_FILE, { path }, folder);
    expect({ path, status, text }).toEqual({
      path,
      status: "failed",
      text: expect.stringMatching(/belongs to the system|does not exist|cannot be reached|not a plain file/),
    });
  }
});

needs("sh")("a pipe that nobody writes to does not hold the turn up", async () => {
  const folder = await temporaryFolder();
  execFileSync("mkfifo", [folder.join("pipe")]);
  expect((await callTool(READ_FILE, { path: "pipe" }, folder)).text).toBe("pipe is not a plain file.");
});

test("outside of the workspace is asked about where everything is asked about, and read freely elsewhere", async () => {
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

test("a wrong input is answered in words", async () => {
  const folder = await temporaryFolder();
  const told = async (input: Record<string, unknown>) => (await callTool(READ_FILE, input, folder)).text;
  expect(await told({})).toBe("read_file: path is missing.");
  expect(await told({ path: 5 })).toBe("read_file: path has to be a text.");
  expect(await told({ path: "a", offset: 0 })).toMatch(/^read_file: offset has to be a whole number/);
  expect(await told({ path: "a", lines: 5 })).toBe(
    "read_file: lines is not known. Known are: path, offset, limit.",
  );
});
