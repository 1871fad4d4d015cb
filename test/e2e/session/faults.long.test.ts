import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Turn } from "@flint/protocol";
import { connect } from "@flint/sdk";
import { temporaryFolder, waitForExit } from "@flint/testkit";
import { expect, test, vi } from "vitest";
import { FLINT } from "../server.ts";
import type { Pty } from "../terminal/exec-pty.ts";
import { allow, openSession, restored, sessionProcess } from "./session-pty.ts";

const TEST_MS = 60_000;
const GUARD_MS = 20_000;
const QUIT = "\u0004";

/** A turn that is in its command, which makes a file at its end. */
async function inMidTurn(args: readonly string[] = []): Promise<Pty> {
  const pty = await openSession(args);
  await pty.waitFor("F1 for help");
  pty.type("run `sleep 2; touch finished.txt`\r");
  await allow(pty);
  await pty.waitFor("Running a command");
  return pty;
}

/** The last turn of the only thread, as another client reads it. */
async function lastTurn(home: string): Promise<Turn | undefined> {
  const client = await connect({ home });
  try {
    const { data } = await client.listThreads();
    const handle = await client.attachThread(data[0]?.id ?? "");
    return handle.state.turns.at(-1);
  } finally {
    await client.close();
  }
}

async function serverPid(pty: Pty): Promise<number> {
  return JSON.parse(await readFile(join(pty.home, "run", "server.json"), "utf8")).pid;
}

test(
  "a terminal that is closed in mid-turn leaves the turn to the shared server, which completes it",
  async () => {
    const pty = await inMidTurn();
    const session = await sessionProcess(pty);
    pty.hangUp();
    await waitForExit([session], GUARD_MS);
    expect(existsSync(join(pty.workspace, "finished.txt"))).toBe(false);
    await vi.waitFor(async () => expect((await lastTurn(pty.home))?.status).toBe("completed"), {
      timeout: GUARD_MS,
      interval: 200,
    });
    expect(existsSync(join(pty.workspace, "finished.txt"))).toBe(true);
  },
  TEST_MS,
);

test(
  "a terminal that is closed in mid-turn ends the turn of a session with its own server as interrupted",
  async () => {
    const pty = await inMidTurn(["--approval-timeout", "600"]);
    const session = await sessionProcess(pty);
    pty.hangUp();
    await waitForExit([session], GUARD_MS);
    const next = await openSession(["resume", "--last"], { folder: pty.folder });
    await next.waitFor("Interrupted");
    await next.waitFor("F1 for help");
    expect(existsSync(join(pty.workspace, "finished.txt"))).toBe(false);
    next.type(QUIT);
    expect(await restored(next)).toBe(0);
  },
  TEST_MS,
);

test(
  "a server that is killed in mid-turn is missed, started again, and what happened to the turn is shown",
  async () => {
    const pty = await inMidTurn();
    process.kill(await serverPid(pty), "SIGKILL");
    await pty.waitFor("Connecting again");
    await pty.waitFor("Connected again");
    await pty.waitFor("missed event");
    await pty.waitFor("F1 for help");
    pty.type("count to 3\r");
    await pty.waitFor("1 2 3.");
    pty.type(QUIT);
    expect(await restored(pty)).toBe(0);
  },
  TEST_MS,
);

test(
  "a folder that is removed during a session is named, and the session goes on once it is back",
  async () => {
    const pty = await openSession();
    await pty.waitFor("F1 for help");
    await rm(pty.workspace, { recursive: true });
    pty.type("run `ls`\r");
    await pty.waitFor("workspace does not exist or is not a folder.");
    await mkdir(pty.workspace);
    pty.type("\u0015count to 3\r");
    await pty.waitFor("1 2 3.");
    pty.type(QUIT);
    expect(await restored(pty)).toBe(0);
  },
  TEST_MS,
);

test(
  "without HOME a session starts, works and ends as with it",
  async () => {
    const shell = (command: string) => `env -u HOME ${command}; echo "[exit code $?]"; stty -a`;
    const pty = await openSession(["count to 3"], { shell });
    await pty.waitFor("1 2 3.");
    await pty.waitFor("F1 for help");
    pty.type(QUIT);
    expect(await restored(pty)).toBe(0);
  },
  TEST_MS,
);

test(
  "without TERM a session prints plain lines and no escape sequence",
  async () => {
    const shell = (command: string) => `env -u TERM ${command}; echo "[exit code $?]"; stty -a`;
    const pty = await openSession(["count to 3"], { shell });
    await pty.waitFor("1 2 3.");
    pty.type(QUIT);
    expect(await restored(pty)).toBe(0);
    expect(pty.output).not.toContain("\u001b");
  },
  TEST_MS,
);

test("without a terminal a session says what to run instead", async () => {
  const folder = await temporaryFolder();
  const env = { PATH: process.env.PATH, HOME: folder.path, FLINT_HOME: folder.join("home") };
  const child = spawn(process.execPath, [FLINT, "fix the test"], { cwd: folder.path, env });
  let said = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    said += text;
  });
  child.stdin.end();
  const [code] = await once(child, "close");
  expect([code, said.split("\n")[0]]).toEqual([
    2,
    'flint: A session needs a terminal. To run a prompt without one: flint exec "fix the test"',
  ]);
});

test("with its output in a pipe a session says what to run instead, and leaves the terminal alone", async () => {
  const shell = (command: string) => `${command} | cat; echo "[exit code $?]"; stty -a`;
  const pty = await openSession([], { shell });
  await restored(pty);
  expect(pty.output).toContain(
    'A session needs a terminal. To run a prompt without one: flint exec "PROMPT"',
  );
  expect(pty.output).not.toContain("\u001b");
});

test(
  "an agent that floods the screen is interrupted by Escape, and keys are seen meanwhile",
  async () => {
    const folder = await temporaryFolder();
    const script = folder.join("script.json");
    const flood = [{ repeat: "a line of the flood, which is as long as lines are\n", times: 2_000_000 }];
    await writeFile(script, JSON.stringify({ steps: [{ when: "flood", parts: flood }] }));
    const pty = await openSession(["flood the screen"], { env: { FLINT_OFFLINE_SCRIPT: script } });
    await pty.waitFor("a line of the flood");
    pty.type("still here");
    await pty.waitFor("still here");
    const { pid } = await sessionProcess(pty);
    pty.type("\u001b");
    await pty.waitFor("Interrupted");
    const status = await readFile(`/proc/${pid}/status`, "utf8");
    expect(Number(/VmRSS:\s+(\d+) kB/.exec(status)?.[1])).toBeLessThan(400_000);
    pty.type("\u0003");
    await pty.waitFor("Ask for something");
    pty.type(QUIT);
    expect(await restored(pty)).toBe(0);
  },
  TEST_MS,
);
