import { existsSync } from "node:fs";
import { mkdir, readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { CommandSandbox } from "@flint/host/sandbox";
import type { Decision, ThreadSettings } from "@flint/protocol";
import { agentFolder, agentProgram, leavesNoProcess, needs, RecordingTurn } from "@flint/testkit";
import { expect, onTestFinished } from "vitest";
import { type OfflineScript, offlineModel } from "../testing/offline-model.ts";
import { sessionSpec, testSettings } from "../testing/session-spec.ts";
import { acpProfile } from "./descriptor.ts";
import { AcpDriver } from "./driver.ts";

const [CODEX_ACP, CODEX] = [agentProgram("codex-acp"), agentProgram("codex")];
const withAgent = needs(CODEX === undefined ? "codex" : "codex-acp");
const LONG = 90_000;
const ESCALATED = {
  cmd: "echo done > made",
  sandbox_permissions: "require_escalated",
  justification: "May I?",
};
const PATCH = "*** Begin Patch\n*** Add File: notes.txt\n+one\n*** End Patch";
// Codex asks its model for a title on the side, which must not use up a step.
const SCRIPT: OfflineScript = [
  { when: "^hello$", parts: [{ text: "Good day." }] },
  { when: "^make it$", parts: [{ call: "exec_command", input: ESCALATED }] },
  { when: "^make it$", parts: [{ text: "Made." }] },
  {
    when: "^write it$",
    parts: [{ call: "exec_command", input: { cmd: `apply_patch <<'END'\n${PATCH}\nEND\n` } }],
  },
  { when: "^write it$", parts: [{ text: "Written." }] },
];
const ALLOW: Decision = { outcome: "allow", scope: "once" };

withAgent(
  "a real agent requests approval of the exact command or diff before it acts",
  async () => {
    const { open, settings, read } = await codexAcp(SCRIPT);
    const session = await open();
    const first = turnOf(settings, "hello");
    expect(await session.run(first)).toEqual({ status: "completed" });
    expect(answerOf(first)).toBe("Good day.");
    expect(first.events.some((event) => event.type === "usage")).toBe(true);

    const second = turnOf(settings, "make it");
    expect(await session.run(second)).toEqual({ status: "completed" });
    const asked = { kind: "command", command: "echo done > made", cwd: settings.cwd };
    expect(second.actions).toMatchObject([asked]);
    expect(second.completedItems[0]).toMatchObject({
      type: "commandExecution",
      status: "completed",
      exitCode: 0,
    });
    expect(await read("made")).toBe("done\n");

    const third = turnOf(settings, "write it");
    expect(await session.run(third)).toEqual({ status: "completed" });
    const path = join(settings.cwd, "notes.txt");
    const change = { path, kind: "add", diff: "--- /dev/null\n+++ b/notes.txt\n@@ -0,0 +1,1 @@\n+one\n" };
    expect(third.actions).toMatchObject([{ kind: "fileChange", changes: [change] }]);
    expect(third.completedItems[0]).toMatchObject({
      type: "fileChange",
      status: "completed",
      changes: [change],
    });
    expect(await read("notes.txt")).toBe("one\n");
  },
  LONG,
);

withAgent(
  "a sandboxed real agent runs approved commands, and writes only where its policy allows",
  async () => {
    const { open, settings, read } = await codexAcp();
    const outside = join(dirname(settings.cwd), "outside");
    const run = async (command: string, other: Partial<ThreadSettings>) => {
      const session = await open(undefined, other);
      const turn = turnOf({ ...settings, ...other }, `run \`${command}\``);
      expect(await session.run(turn)).toEqual({ status: "completed" });
      await session.close();
      const asked = other.approvalPolicy === "never" ? [] : [{ kind: "command", command }];
      expect(turn.actions).toMatchObject(asked);
      return turn.completedItems[0];
    };
    expect(await run("echo done > made", {})).toMatchObject({ status: "completed", exitCode: 0 });
    expect(await read("made")).toBe("done\n");
    expect(await run(`echo done > ${outside}`, {})).toMatchObject({ status: "failed" });
    const never = { approvalPolicy: "never" } as const;
    expect(await run("echo done > unasked", never)).toMatchObject({ status: "completed" });
    expect(await run(`echo done > ${outside}`, never)).toMatchObject({ status: "failed" });
    expect(existsSync(outside)).toBe(false);
    const reading = { sandboxPolicy: { type: "readOnly" } } as const;
    expect(await run("echo no > other", reading)).toMatchObject({ status: "failed" });
    expect(await read("other")).toBeUndefined();
    const seen = await run("sh -c 'cat made'", reading);
    expect(seen).toMatchObject({ exitCode: 0, aggregatedOutput: expect.stringContaining("done\n") });
  },
  LONG,
);

withAgent(
  "a real agent can be interrupted, resumed in another process, and declined",
  async () => {
    const { open, settings, read } = await codexAcp([
      { when: "^talk$", parts: [{ text: "On and on. ", times: 1_000_000 }] },
      { when: "^make it$", parts: [{ call: "exec_command", input: ESCALATED }] },
    ]);
    const session = await open();
    const turn = turnOf(settings, "talk");
    const ended = session.run(turn);
    await turn.waitFor((event) => event.type === "item/agentMessage/delta");
    turn.stop();
    expect(await ended).toEqual({ status: "interrupted" });
    await session.close();

    const nativeId = turn.events.findLast((event) => event.type === "session")?.nativeId;
    const again = await open(nativeId);
    const next = turnOf(settings, "make it", { outcome: "deny", scope: "once" });
    expect(await again.run(next)).toEqual({ status: "completed" });
    expect(next.events.filter((event) => event.type === "session")).toEqual([]);
    expect(next.completedItems).toMatchObject([{ type: "commandExecution", status: "declined" }]);
    expect(await read("made")).toBeUndefined();
  },
  LONG,
);

/** Codex over ACP on the offline model, which follows its script, or else does what it is asked. */
async function codexAcp(script?: OfflineScript) {
  leavesNoProcess();
  const folder = await agentFolder();
  const cwd = folder.join("work");
  await mkdir(cwd);
  const model = await offlineModel(onTestFinished, script);
  const sandbox = new CommandSandbox({ environment: process.env });
  const driver = new AcpDriver({
    profile: acpProfile("codex-acp", []),
    program: async () => ({
      command: [CODEX_ACP ?? "codex-acp"],
      environment: { CODEX_PATH: CODEX ?? "codex" },
    }),
    offlineModel: async () => model.url,
    stateFolder: folder.join("state"),
    version: "0.0.0",
  });
  const settings = testSettings("codex-acp/default", cwd);
  const open = async (nativeId?: string, other: Partial<ThreadSettings> = {}) => {
    const session = await driver.open(sessionSpec({ ...settings, ...other }, sandbox, { nativeId }));
    onTestFinished(() => session.close());
    return session;
  };
  const read = (name: string) => readFile(join(cwd, name), "utf8").catch(() => undefined);
  return { open, settings, read };
}

function turnOf(settings: ThreadSettings, text: string, decision: Decision = ALLOW): RecordingTurn {
  return new RecordingTurn({ text, settings, decide: () => decision });
}

function answerOf({ completedItems }: RecordingTurn): string {
  return completedItems.flatMap((item) => ("text" in item ? [String(item.text)] : [])).join("");
}
