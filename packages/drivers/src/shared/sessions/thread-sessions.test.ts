import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { CLAUDE_TRANSCRIPTS } from "./claude-transcripts.ts";
import { ThreadSessions } from "./thread-sessions.ts";

const OWN = "11111111-1111-4111-8111-111111111111";
const OTHER = "22222222-2222-4222-8222-222222222222";
const CWD = "/home/u/project";
const PLACE = "-home-u-project";

/** A line of Claude's, as short as possible. */
function line(id: string, said: string, permissionMode = "default"): string {
  return `${JSON.stringify({ type: "user", sessionId: id, permissionMode, said })}\n`;
}

/** An agent's folder with a session of the user's, and Flint's. */
function stage() {
  const home = realpathSync(mkdtempSync(join(tmpdir(), "flint-thread-sessions-")));
  onTestFinished(() => rmSync(home, { recursive: true, force: true }));
  const [folder, root] = [join(home, "claude"), join(home, "state")];
  const original = (id: string) => join(folder, "projects", PLACE, `${id}.jsonl`);
  mkdirSync(dirname(original(OTHER)), { recursive: true });
  writeFileSync(original(OTHER), line(OTHER, "the user's"));
  const options = { root, folder, transcripts: CLAUDE_TRANSCRIPTS, names: ["projects", "todos"], cwd: CWD };
  const open = (threadId = "t") => ThreadSessions.open({ ...options, threadId });
  const names = () => readdirSync(join(folder, "projects", PLACE));
  return { home, folder, root, options, original, open, names };
}

/** Writes as a confined agent can. */
function writing(sessions: ThreadSessions) {
  const at = (id: string, place = PLACE) => join(sessions.source("projects"), place, `${id}.jsonl`);
  const write = (id: string, text: string, place = PLACE) => {
    mkdirSync(dirname(at(id, place)), { recursive: true });
    writeFileSync(at(id, place), text, { flag: "a" });
  };
  return { at, write };
}

test("publishes the session of a thread once its agent has ended, in the mode that asks", async () => {
  const { open, original, root } = stage();
  const sessions = await open();
  await sessions.resume(OWN);
  writing(sessions).write(OWN, line(OWN, "hello", "acceptEdits"));
  expect(existsSync(original(OWN))).toBe(false);
  await sessions.release();
  expect(readFileSync(original(OWN), "utf8")).toBe(line(OWN, "hello"));
  // It is not stored twice.
  expect(readdirSync(root)).toEqual([]);
});

test("the agent sees no session but those of its thread, and can neither change nor add another one", async () => {
  const { open, original, names } = stage();
  const sessions = await open();
  await sessions.resume(OWN);
  const { at, write } = writing(sessions);
  expect(existsSync(at(OTHER))).toBe(false);
  write(OWN, line(OWN, "hello"));
  write(OTHER, line(OTHER, "evil"));
  write("33333333-3333-4333-8333-333333333333", line(OWN, "evil"));
  await sessions.release();
  expect(names()).toEqual([`${OWN}.jsonl`, `${OTHER}.jsonl`]);
  expect(readFileSync(original(OTHER), "utf8")).toBe(line(OTHER, "the user's"));
});

test("a resumed session keeps what it had, and only what is added to it is changed", async () => {
  const { open, original } = stage();
  const before = `${JSON.stringify({ type: "file-history-snapshot" })}\n${line(OTHER, "mine", "acceptEdits")}`;
  writeFileSync(original(OTHER), before);
  const sessions = await open();
  await sessions.resume(OTHER);
  const { at, write } = writing(sessions);
  expect(readFileSync(at(OTHER), "utf8")).toBe(before);
  write(OTHER, line(OTHER, "more", "bypassPermissions"));
  await sessions.release();
  expect(readFileSync(original(OTHER), "utf8")).toBe(before + line(OTHER, "more"));
  // The next process has all of it.
  const next = await open();
  await next.resume(OTHER);
  expect(readFileSync(writing(next).at(OTHER), "utf8")).toBe(before + line(OTHER, "more"));
  await next.release();
});

test("a session that was changed or removed outside meanwhile stays as it is, and the thread reports it", async () => {
  const { open, original } = stage();
  const changes = [
    () => writeFileSync(original(OTHER), line(OTHER, "changed outside")),
    () => rmSync(original(OTHER)),
  ];
  for (const [at, change] of changes.entries()) {
    const sessions = await open(`t${at}`);
    await sessions.resume(OTHER);
    writing(sessions).write(OTHER, line(OTHER, "more"));
    change();
    const left = existsSync(original(OTHER)) ? readFileSync(original(OTHER), "utf8") : undefined;
    await sessions.release();
    expect(existsSync(original(OTHER)) ? readFileSync(original(OTHER), "utf8") : undefined).toBe(left);
    const next = await open(`t${at}`);
    expect(await next.takeProblems()).toEqual([
      expect.stringContaining("changed or removed outside of Flint"),
    ]);
    expect(await next.takeProblems()).toEqual([]);
    // The thread goes on with what it has.
    await next.resume(OTHER);
    expect(readFileSync(writing(next).at(OTHER), "utf8")).toMatch(/more/);
    await next.release();
  }
});

test("a session that was made outside with the id of the thread's stays as it is", async () => {
  const { open, original } = stage();
  const sessions = await open();
  await sessions.resume(OWN);
  writing(sessions).write(OWN, line(OWN, "inside"));
  writeFileSync(original(OWN), line(OWN, "outside"));
  await sessions.release();
  expect(readFileSync(original(OWN), "utf8")).toBe(line(OWN, "outside"));
  const next = await open();
  expect(await next.takeProblems()).toEqual([expect.stringContaining("another one with its id")]);
  await next.release();
});

test.each<[string, string, (sessions: ThreadSessions, home: string) => void]>([
  [
    "what is not a session",
    "not a session of this thread",
    (sessions) => writing(sessions).write(OWN, "evil\nevil\n"),
  ],
  [
    "a second file with it",
    "several files",
    (sessions) => {
      writing(sessions).write(OWN, line(OWN, "a"));
      writing(sessions).write(OWN, line(OWN, "a"), "-elsewhere");
    },
  ],
  [
    "a link in its place",
    "not a plain file",
    (sessions, home) => {
      const { at } = writing(sessions);
      writeFileSync(join(home, "secret"), line(OWN, "secret"));
      mkdirSync(dirname(at(OWN)), { recursive: true });
      symlinkSync(join(home, "secret"), at(OWN));
    },
  ],
])("publishes no %s", async (_what, problem, attack) => {
  const { open, names, home } = stage();
  const sessions = await open();
  await sessions.resume(OWN);
  attack(sessions, home);
  await sessions.release();
  expect(names()).toEqual([`${OTHER}.jsonl`]);
  const next = await open();
  expect(await next.takeProblems()).toEqual([expect.stringContaining(problem)]);
  await next.release();
});

test("publishes nothing of a session in which the agent changed what was there before", async () => {
  const { open, original } = stage();
  const sessions = await open();
  await sessions.resume(OTHER);
  rmSync(writing(sessions).at(OTHER));
  writing(sessions).write(OTHER, line(OTHER, "never said") + line(OTHER, "more"));
  await sessions.release();
  expect(readFileSync(original(OTHER), "utf8")).toBe(line(OTHER, "the user's"));
  const next = await open();
  expect(await next.takeProblems()).toEqual([expect.stringContaining("before was changed")]);
  await next.release();
});

test("follows no link that the agent has put in the place of a folder, when it copies, publishes or removes", async () => {
  const { open, folder, original, home } = stage();
  const sessions = await open();
  await sessions.resume(OWN);
  mkdirSync(join(home, "elsewhere"));
  symlinkSync(join(home, "elsewhere"), join(sessions.source("projects"), PLACE));
  await expect(sessions.resume(OTHER)).rejects.toThrow();
  expect(readdirSync(join(home, "elsewhere"))).toEqual([]);
  rmSync(join(sessions.source("projects"), PLACE));
  symlinkSync(join(folder, "projects", PLACE), join(sessions.source("projects"), PLACE));
  await sessions.copy(OTHER).catch(() => undefined);
  await sessions.release();
  expect(readFileSync(original(OTHER), "utf8")).toBe(line(OTHER, "the user's"));
});

test("what is copied for another thread to begin with is published by its own thread alone", async () => {
  const { open, original } = stage();
  const [first, second] = [await open("a"), await open("b")];
  await first.resume(OWN);
  writing(first).write(OWN, line(OWN, "first"));
  // The agent of the first thread is still running.
  await second.copy(OWN);
  expect(readFileSync(writing(second).at(OWN), "utf8")).toBe(line(OWN, "first"));
  writing(second).write(OWN, line(OWN, "evil"));
  await second.release();
  expect(readFileSync(original(OWN), "utf8")).toBe(line(OWN, "first"));
  writing(first).write(OWN, line(OWN, "second"));
  await first.release();
  expect(readFileSync(original(OWN), "utf8")).toBe(line(OWN, "first") + line(OWN, "second"));
});

test("an agent cannot claim a session that is there or that another thread has begun", async () => {
  const { open } = stage();
  const [first, second] = [await open("a"), await open("b")];
  expect(await first.claim(OWN)).toBe(true);
  expect(await first.claim(OWN)).toBe(true);
  expect(await second.claim(OWN)).toBe(false);
  expect(await second.claim(OTHER)).toBe(false);
  expect(await second.claim("../../x")).toBe(false);
  await Promise.all([first.release(), second.release()]);
});

test("two processes of a thread share its sessions, and the last one publishes them", async () => {
  const { open, original } = stage();
  const [first, second] = [await open(), await open()];
  expect(second.source("projects")).toBe(first.source("projects"));
  await first.resume(OWN);
  writing(first).write(OWN, line(OWN, "hello"));
  await first.release();
  expect(existsSync(original(OWN))).toBe(false);
  await second.release();
  expect(existsSync(original(OWN))).toBe(true);
});

test("what is published while the agent runs is replaced by what it writes later", async () => {
  const { open, original } = stage();
  writeFileSync(original(OTHER), `${line(OTHER, "mine", "acceptEdits")}{"type":"unheard-of"}\n`);
  const before = readFileSync(original(OTHER), "utf8");
  const sessions = await open();
  await sessions.resume(OTHER);
  const { write } = writing(sessions);
  for (const said of ["a", "b"]) {
    write(OTHER, `{"type":"mode"}\n${line(OTHER, said, "acceptEdits")}`);
    await sessions.publish();
  }
  write(OTHER, line(OTHER, "c", "acceptEdits"));
  await sessions.release();
  const added = ["a", "b", "c"].map((said) => line(OTHER, said)).join("");
  expect(readFileSync(original(OTHER), "utf8")).toBe(before + added);
});

test("a large session is published only when its agent has ended", async () => {
  const { open, original } = stage();
  const sessions = await open();
  await sessions.resume(OWN);
  writing(sessions).write(OWN, line(OWN, "a".repeat(17 * 1024 * 1024)));
  await sessions.publish();
  expect(existsSync(original(OWN))).toBe(false);
  await sessions.release();
  expect(existsSync(original(OWN))).toBe(true);
});

test("publishes what a killed server has left when the next agent starts, and not what one that runs uses", async () => {
  const { open, original, root } = stage();
  for (const [threadId, id, pid] of [
    ["dead", OWN, 2 ** 22 + 1],
    ["alive", "33333333-3333-4333-8333-333333333333", process.ppid],
  ] as const) {
    const sessions = await open(threadId);
    await sessions.resume(id);
    writing(sessions).write(id, line(id, "left"));
    // As if another process had done this.
    const [digest = ""] = readdirSync(join(root, threadId));
    const record = join(root, threadId, digest, "record.json");
    const stored = readFileSync(record, "utf8").replace(`-${process.pid}"`, `-${pid}"`);
    await sessions.release();
    rmSync(original(id));
    mkdirSync(dirname(writing(sessions).at(id)), { recursive: true });
    writeFileSync(record, stored);
    writing(sessions).write(id, line(id, "left"));
  }
  const next = await open("next");
  expect(existsSync(original(OWN))).toBe(true);
  expect(existsSync(original("33333333-3333-4333-8333-333333333333"))).toBe(false);
  await next.release();
});

test("a deleted thread leaves none of its sessions, even one that could not be published", async () => {
  const { open, original, root } = stage();
  const sessions = await open();
  const other = await open("other");
  const { write } = writing(sessions);
  await sessions.resume(OTHER);
  write(OTHER, line(OTHER, "more"));
  writeFileSync(original(OTHER), line(OTHER, "changed outside"));
  await sessions.release();
  expect(existsSync(join(root, "t"))).toBe(true);
  await ThreadSessions.removeAll(root, "t");
  expect(readdirSync(root)).toEqual(["other"]);
  await other.release();
});
