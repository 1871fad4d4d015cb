import { execFile } from "node:child_process";
import { appendFileSync, readFileSync, symlinkSync } from "node:fs";
import { promisify } from "node:util";
import { openConnection, TaskKeys } from "@flint/tasks/fleet";
import { needs, RedisServer, temporaryFolder } from "@flint/testkit";
import { describe, expect, onTestFinished, test } from "vitest";
import { ChannelFile, type Channels } from "./channel-file.ts";
import { RedisChannels } from "./redis-channels.ts";
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
  const contents = async (channels: Channels) =>
    (await channels.messages("s1")).map(({ content }) => content);
  return { folder, path, damage, open, contents };
}

/** Opens the channels of one kind, as one process after the other would; `damage` has what was reported. */
interface ChannelsUnderTest {
  readonly damage: readonly string[];
  open(): Promise<Channels>;
  /** Leaves something that cannot be read among the messages. */
  spoil(): Promise<void>;
}

async function inRedis(): Promise<ChannelsUnderTest> {
  const redis = await RedisServer.start();
  const damage: string[] = [];
  const connection = await openConnection(redis.url);
  onTestFinished(() => connection.disconnect());
  return {
    damage,
    open: async () => {
      const options = {
        redis: redis.url,
        namespace: "test",
        onDamage: (problem: string) => void damage.push(problem),
      };
      const channels = await RedisChannels.open(options);
      onTestFinished(() => channels.close());
      return channels;
    },
    spoil: async () => {
      await connection.xadd(new TaskKeys("test").messages("s1"), "*", "data", '{"message":{"id":"tw');
    },
  };
}

async function inFile(): Promise<ChannelsUnderTest> {
  const { path, damage, open } = await setUp();
  return { damage, open: () => open(), spoil: async () => appendFileSync(path, '{"message":{"id":"tw\n') };
}

describe.each([
  { where: "a file", run: test, make: inFile },
  { where: "Redis", run: needs("redis"), make: inRedis },
])("channels in $where", ({ run, make }) => {
  run(
    "have what was appended when they are opened again, and what another process appends meanwhile",
    async () => {
      const { open } = await make();
      const first = await open();
      await first.append({ session });
      await first.append({ message: message("one") });
      const second = await open();
      expect(await second.session("s1")).toEqual(session);
      await second.append({ message: message("two") });
      await first.append({ message: message("three") });
      for (const channels of [first, second])
        expect((await channels.messages("s1")).map(({ content }) => content)).toEqual([
          "one",
          "two",
          "three",
        ]);
    },
  );

  run("have the first of two sessions with one id, and list them oldest first", async () => {
    const { open } = await make();
    const [first, second] = [await open(), await open()];
    const later = { ...session, id: "s0", created_at: "2026-01-02T00:00:00Z" };
    await first.append({ session });
    await second.append({ session: { ...session, title: "Too late" } });
    await second.append({ session: later });
    expect(await first.sessions()).toEqual([session, later]);
    expect(await first.session("none")).toBeUndefined();
    expect(await first.messages("none")).toEqual([]);
  });

  run("leave out what cannot be read, and report it", async () => {
    const { open, damage, spoil } = await make();
    const channels = await open();
    await channels.append({ message: message("one") });
    await spoil();
    await channels.append({ message: message("two") });
    expect((await channels.messages("s1")).map(({ content }) => content)).toEqual(["one", "two"]);
    expect(damage).toEqual([expect.stringContaining("cannot be read")]);
  });
});

describe("the file of channels", () => {
  test("loses only the line that a killed writer left unfinished", async () => {
    const { path, damage, open, contents } = await setUp();
    const first = await open();
    await first.append({ message: message("one") });
    appendFileSync(path, '{"message":{"id":"tw');
    const second = await open();
    expect(await contents(second)).toEqual(["one"]);
    await second.append({ message: message("three") });
    expect(await contents(second)).toEqual(["one", "three"]);
    expect(damage).toEqual([`A line of ${path} cannot be read.`]);
  });

  test("does not grow beyond its limit, and stays readable", async () => {
    const { path, open, contents } = await setUp();
    const file = await open(1000);
    await file.append({ message: message("one") });
    await expect(file.append({ message: message("x".repeat(1000)) })).rejects.toThrow(
      "Move it away to start a new one",
    );
    expect(await contents(file)).toEqual(["one"]);
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
