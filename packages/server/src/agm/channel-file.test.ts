import { execFile } from "node:child_process";
import { appendFileSync, readFileSync, symlinkSync } from "node:fs";
import { promisify } from "node:util";
import { temporaryFolder } from "@flint/testkit";
import { describe, expect, onTestFinished, test } from "vitest";
import { ChannelFile } from "./channel-file.ts";
import type { MessageRow, StoredSession } from "./rows.ts";

const session: StoredSession = {
  ...{ id: "s1", title: "Port it", project_id: "/repo", trigger: "api", created_at: "2026-01-01T00:00:00Z" },
};

const message = (content: string): MessageRow => ({
  ...{ id: content, session_id: "s1", kind: "context", sender: "operator:api", recipient: null, content },
  ...{ metadata: null, created_at: "2026-01-01T00:00:00Z" },
});

async function setUp() {
  const folder = await temporaryFolder();
  const path = folder.join("tasks/channels.jsonl");
  const damage: string[] = [];
  const open = async (limit?: number) => {
    const file = await ChannelFile.open({ path, limit, onDamage: (problem) => void damage.push(problem) });
    onTestFinished(() => file.close());
    return file;
  };
  const contents = (file: ChannelFile) => file.messages("s1").map(({ content }) => content);
  return { folder, path, damage, open, contents };
}

describe("the file of channels", () => {
  test("has what was appended when it is opened again, and what another process appends meanwhile", async () => {
    const { open, contents } = await setUp();
    const first = await open();
    first.append({ session });
    first.append({ message: message("one") });
    const second = await open();
    expect(second.session("s1")).toEqual(session);
    second.append({ message: message("two") });
    first.append({ message: message("three") });
    expect(contents(first)).toEqual(["one", "two", "three"]);
    expect(contents(second)).toEqual(["one", "two", "three"]);
  });

  test("loses only the line that a killed writer left unfinished", async () => {
    const { path, damage, open, contents } = await setUp();
    const first = await open();
    first.append({ message: message("one") });
    appendFileSync(path, '{"message":{"id":"tw');
    const second = await open();
    expect(contents(second)).toEqual(["one"]);
    second.append({ message: message("three") });
    expect(contents(second)).toEqual(["one", "three"]);
    expect(damage).toEqual([`A line of ${path} cannot be read.`]);
  });

  test("does not grow beyond its limit, and stays readable", async () => {
    const { path, open, contents } = await setUp();
    const file = await open(1000);
    file.append({ message: message("one") });
    expect(() => file.append({ message: message("x".repeat(1000)) })).toThrow(
      "Move it away to start a new one",
    );
    expect(contents(file)).toEqual(["one"]);
    expect(readFileSync(path, "utf8")).not.toContain("xxx");
  });

  test("is neither a pipe nor a link", async () => {
    const { folder, path, open } = await setUp();
    await open();
    await promisify(execFile)("mkfifo", [folder.join("pipe")]);
    const onDamage = () => {};
    await expect(ChannelFile.open({ path: folder.join("pipe"), onDamage })).rejects.toThrow(
      "is not a plain file",
    );
    symlinkSync(path, folder.join("link"));
    await expect(ChannelFile.open({ path: folder.join("link"), onDamage })).rejects.toThrow("ELOOP");
  });
});
