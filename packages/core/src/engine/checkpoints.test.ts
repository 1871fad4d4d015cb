import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { cp } from "node:fs/promises";
import type { TurnContext, TurnOutcome } from "@flint/core/ports";
import { FileCheckpoints } from "@flint/host/checkpoints";
import { JsonlStore } from "@flint/host/store";
import type { Turn } from "@flint/protocol";
import {
  BareDriver,
  Gate,
  type TestClient,
  type TestEngineOptions,
  temporaryFolder,
  testEngine,
  UnreliableStore,
} from "@flint/testkit";
import { describe, expect, test } from "vitest";

type Work = (turn: TurnContext) => Promise<void>;

/** An agent that runs the next step of the test in each turn. */
class WorkingDriver extends BareDriver {
  override readonly asksFirst: boolean;

  constructor(asksFirst: boolean, works: Work[]) {
    super({
      run: async (turn): Promise<TurnOutcome> => {
        await works.shift()?.(turn);
        return { status: "completed" };
      },
    });
    this.asksFirst = asksFirst;
  }
}

/** A thread in a real folder, with an agent that works in it. */
async function thread(asksFirst: boolean, options: Partial<TestEngineOptions> = {}) {
  const workspace = await temporaryFolder();
  const state = await temporaryFolder();
  const works: Work[] = [];
  const checkpoints = new FileCheckpoints({ root: state.path, graceMs: 0 });
  const driver = new WorkingDriver(asksFirst, works);
  const given = { checkpoints, driver, cwd: workspace.path, approvalPolicy: "never", ...options } as const;
  const server = testEngine(given);
  const client = server.connect();
  const threadId = await client.startThread();
  const turn = async (work: Work): Promise<Turn> => {
    works.push(work);
    return client.runTurn(threadId, "go");
  };
  const write = (name: string, text: string) => writeFileSync(workspace.join(name), text);
  const read = (name: string) =>
    existsSync(workspace.join(name)) ? readFileSync(workspace.join(name), "utf8") : undefined;
  return { server, client, threadId, workspace, state, checkpoints, turn, write, read };
}

async function conversation(client: TestClient, threadId: string): Promise<string[]> {
  const { turns = [] } = await client.call("thread/read", { threadId, includeTurns: true });
  return turns.map((turn) => turn.id);
}

function command(text: string, turn: TurnContext) {
  return turn.approve({ kind: "command", itemId: "item", command: text, cwd: turn.settings.cwd });
}

function fileChange(path: string, turn: TurnContext) {
  const changes = [{ path, kind: "modify", diff: "" } as const];
  return turn.approve({ kind: "fileChange", itemId: "item", changes });
}

describe("thread/revert", () => {
  test("restores the files of the reverted turns, and can be undone", async () => {
    const { client, threadId, turn, write, read } = await thread(true);
    write("edited", "one");
    const first = await turn(async () => undefined);
    const second = await turn(async (context) => {
      await fileChange("edited", context);
      write("edited", "two");
    });
    const third = await turn(async (context) => {
      await command("make", context);
      write("edited", "three");
      write("made", "by make");
    });
    const before = await conversation(client, threadId);

    const request = { threadId, beforeTurnId: second.id, files: "restore" } as const;
    const preview = await client.call("thread/revert", { ...request, preview: true });
    expect(preview.files).toMatchObject([
      { path: "made", action: "delete", status: "planned" },
      { path: "edited", action: "restore", status: "planned", sizeBefore: 5, sizeAfter: 3 },
    ]);
    expect(preview.files?.[1]?.diff).toContain("\n-three\n");
    expect(preview.files?.[1]?.diff).toContain("\n+one\n");
    expect([preview.revertId, preview.conflicts, preview.notSaved]).toEqual([undefined, [], []]);
    expect([read("edited"), await conversation(client, threadId)]).toEqual(["three", before]);

    const reverted = await client.call("thread/revert", request);
    expect(reverted).toMatchObject({ turnIds: [second.id, third.id], conflicts: [] });
    expect([read("edited"), read("made")]).toEqual(["one", undefined]);
    expect(await conversation(client, threadId)).toEqual([first.id]);
    expect((await client.waitFor("thread/reverted")).data).toEqual({
      ...{ threadId, turnIds: [second.id, third.id], revertId: reverted.revertId, files: "restore" },
    });

    const { revertId = "" } = reverted;
    const undone = await client.call("thread/revert/undo", { threadId, revertId });
    expect(undone).toMatchObject({ turnIds: [second.id, third.id], conflicts: [] });
    expect([read("edited"), read("made")]).toEqual(["three", "by make"]);
    expect(await conversation(client, threadId)).toEqual(before);
    const { data } = await client.waitFor("thread/revert/undone");
    expect(data.turns.map(({ id, status }) => [id, status])).toEqual([
      [second.id, "completed"],
      [third.id, "completed"],
    ]);
  });

  test("leaves files alone by default, and thread/rollback takes the same option [S2-14]", async () => {
    const { client, threadId, turn, write, read, workspace } = await thread(true);
    const change = async (context: TurnContext) => {
      await fileChange("made", context);
      write("made", "made");
    };
    await turn(change);
    const result = await client.call("thread/rollback", { threadId, numTurns: 1 });
    expect(Object.keys(result).sort()).toEqual(["revertId", "thread", "turnIds"]);
    expect(read("made")).toBe("made");
    rmSync(workspace.join("made"));
    await turn(change);
    await client.call("thread/rollback", { threadId, numTurns: 1, files: "restore" });
    expect(read("made")).toBeUndefined();
  });

  test("reports what others changed since instead of losing it", async () => {
    const { client, threadId, turn, write, read } = await thread(true);
    write("ours", "one");
    const { id } = await turn(async (context) => {
      await fileChange("ours", context);
      write("ours", "two");
    });
    write("ours", "mine");
    const request = { threadId, beforeTurnId: id, files: "restore" } as const;
    const { conflicts } = await client.call("thread/revert", request);
    expect(conflicts).toEqual([{ path: "ours", reason: "changedSince", message: expect.any(String) }]);
    expect(read("ours")).toBe("mine");
  });

  test("reports when the server has no checkpoints, and when nothing of a turn was saved", async () => {
    const driver = new WorkingDriver(true, []);
    const client = testEngine({ driver }).connect();
    const threadId = await client.startThread();
    const { id } = await client.runTurn(threadId, "go");
    const refused = client.call("thread/revert", { threadId, beforeTurnId: id, files: "restore" });
    await expect(refused).rejects.toMatchObject({ kind: "unsupported", data: { field: "files" } });
    expect(await conversation(client, threadId)).toEqual([id]);

    const real = await thread(true);
    const item = { type: "fileChange", id: "i", changes: [], status: "completed" } as const;
    const unsaved = await real.turn(async ({ emit }) => {
      emit({ type: "item/started", item: { ...item, status: "inProgress" } });
      emit({ type: "item/completed", item });
    });
    const fork = await real.client.call("thread/fork", { threadId: real.threadId });
    const { notSaved } = await real.client.call("thread/revert", {
      ...{ threadId: fork.thread.id, beforeTurnId: unsaved.id, preview: true },
    });
    expect(notSaved).toMatchObject([{ turnId: unsaved.id, reason: "noCheckpoint" }]);
  });
});

describe("undoing a revert", () => {
  test("restores the files but not the turns once another turn has started", async () => {
    const { client, threadId, turn, write, read } = await thread(true);
    const dropped = await turn(async (context) => {
      await fileChange("made", context);
      write("made", "made");
    });
    const request = { threadId, beforeTurnId: dropped.id, files: "restore" } as const;
    const { revertId = "" } = await client.call("thread/revert", request);
    const later = await turn(async () => undefined);
    expect(await client.call("thread/revert/undo", { threadId, revertId })).toMatchObject({
      turnIds: [],
      files: [{ path: "made", action: "create", status: "done" }],
    });
    expect([read("made"), await conversation(client, threadId)]).toEqual(["made", [later.id]]);
  });

  test("also works for turns whose files were kept, revert by revert, and after a restart", async () => {
    const store = new UnreliableStore();
    const { server, client, threadId, turn, workspace } = await thread(true, { store });
    const first = await turn(async ({ emit }) => emit({ type: "session", nativeId: "native" }));
    const second = await turn(async () => undefined);
    const undo: string[] = [];
    for (const beforeTurnId of [second.id, first.id]) {
      undo.push((await client.call("thread/revert", { threadId, beforeTurnId })).revertId ?? "");
    }
    const [inner = "", outer = ""] = undo;
    expect((await client.call("thread/revert/undo", { threadId, revertId: inner })).turnIds).toEqual([]);
    await server.close();
    const later = testEngine({ store, cwd: workspace.path });
    const reader = later.connect();
    await reader.call("thread/revert/undo", { threadId, revertId: outer });
    expect(await conversation(reader, threadId)).toEqual([first.id]);
    await reader.call("thread/revert/undo", { threadId, revertId: inner });
    expect(await conversation(reader, threadId)).toEqual([first.id, second.id]);
    const again = await reader.call("thread/revert/undo", { threadId, revertId: inner });
    expect([again.turnIds, await conversation(reader, threadId)]).toEqual([[], [first.id, second.id]]);
    await reader.runTurn(threadId, "go on");
    expect(later.driver.sessions[0]).toMatchObject({ nativeId: "native" });
  });

  test("is rejected for an unknown revert", async () => {
    const { client, threadId } = await thread(true);
    await expect(client.call("thread/revert/undo", { threadId, revertId: "none" })).rejects.toMatchObject({
      kind: "invalidParams",
      data: { field: "revertId" },
    });
  });
});

describe("saving files", () => {
  test("saves everything before the turn of an agent that never asks", async () => {
    const { client, threadId, turn, write, read } = await thread(false);
    write("untracked", "one");
    const { id } = await turn(async () => {
      write("untracked", "two");
      write("made", "made");
    });
    await client.call("thread/revert", { threadId, beforeTurnId: id, files: "restore" });
    expect([read("untracked"), read("made")]).toEqual(["one", undefined]);
  });

  test("saves what an agent reports before it writes, even outside of the scanned folders", async () => {
    const { client, threadId, turn, write, read, workspace } = await thread(false);
    write(".gitignore", "ignored/\n");
    mkdirSync(workspace.join("ignored"));
    write("ignored/file", "one");
    const { id } = await turn(async ({ emit }) => {
      const changes = [{ path: "ignored/file", kind: "modify", diff: "" } as const];
      emit({ type: "item/started", item: { type: "fileChange", id: "i", changes, status: "inProgress" } });
      write("ignored/file", "two");
    });
    await client.call("thread/revert", { threadId, beforeTurnId: id, files: "restore" });
    expect(read("ignored/file")).toBe("one");
  });

  test("does not attribute to the agent what the user changes before approving", async () => {
    const { client, threadId, turn, write, read } = await thread(true, { approvalPolicy: "always" });
    write("file", "one");
    const changes = [{ path: "file", kind: "modify", diff: "" } as const];
    const ended = turn(async (context) => {
      const item = { type: "fileChange", id: "item", changes, status: "inProgress" } as const;
      context.emit({ type: "item/started", item });
      await fileChange("file", context);
      write("file", "agent");
    });
    const { data } = await client.waitFor("approval/requested");
    write("file", "mine");
    const decision = { outcome: "allow", scope: "once" } as const;
    await client.call("approval/respond", { threadId, approvalId: data.approval.id, decision });
    const { id } = await ended;
    await client.call("thread/revert", { threadId, beforeTurnId: id, files: "restore" });
    expect(read("file")).toBe("mine");
  });

  test("is skipped for a command that only reads, may not write, or was declined", async () => {
    for (const [text, options] of [
      ["ls", {}],
      ["make", { sandboxPolicy: { type: "readOnly" } }],
      ["make", { approvalPolicy: "always", approvalTimeoutMs: 1 }],
    ] as const) {
      const { server, turn, state, client } = await thread(true, options);
      const ended = turn(async (context) => void (await command(text, context)));
      if ("approvalTimeoutMs" in options) {
        await client.waitFor("approval/requested");
        await server.clock.advance(1);
      }
      await ended;
      expect([text, existsSync(state.join("checkpoints", "workspaces"))]).toEqual([text, false]);
    }
  });

  test("warns once when files cannot be saved, and the turn continues", async () => {
    const { client, turn, state, write, read } = await thread(true);
    writeFileSync(state.join("checkpoints"), "not a folder");
    const { status } = await turn(async (context) => {
      for (const name of ["one", "two"]) {
        await fileChange(name, context);
        write(name, "written");
      }
    });
    expect([status, read("two")]).toEqual(["completed", "written"]);
    expect(client.eventsOf("warning").map(({ data }) => data)).toMatchObject([
      { reason: "checkpointFailed", message: expect.stringContaining("cannot all be undone") },
    ]);
  });

  test("lets a turn be undone that was running when its server ended", async () => {
    const folder = await temporaryFolder();
    const root = folder.join("alive");
    const store = new JsonlStore({ root, durability: "relaxed" });
    const alive = await thread(true, { store, checkpoints: new FileCheckpoints({ root }) });
    alive.write("file", "one");
    const written = new Gate();
    void alive.turn(async (context) => {
      await command("make", context);
      alive.write("file", "two");
      await written.wait();
    });
    await written.reached;
    await cp(root, folder.join("left"), { recursive: true });

    const left = { root: folder.join("left"), durability: "relaxed" } as const;
    const checkpoints = new FileCheckpoints(left);
    const later = testEngine({ store: new JsonlStore(left), checkpoints }).connect();
    const { threadId } = alive;
    const [beforeTurnId = ""] = await conversation(later, threadId);
    const { files } = await later.call("thread/revert", { threadId, beforeTurnId, files: "restore" });
    expect(files).toMatchObject([{ path: "file", action: "restore", status: "done" }]);
    expect(alive.read("file")).toBe("one");
    written.open();
  });
});

test("ends with the thread: deleting it deletes its checkpoints", async () => {
  const { client, threadId, turn, write, state, checkpoints } = await thread(true);
  write("file", "one");
  await turn(async (context) => {
    await fileChange("file", context);
    write("file", "two");
  });
  expect(existsSync(state.join("checkpoints", "threads", threadId))).toBe(true);
  await client.call("thread/delete", { threadId });
  await checkpoints.settled();
  expect(existsSync(state.join("checkpoints", "threads", threadId))).toBe(false);
});
