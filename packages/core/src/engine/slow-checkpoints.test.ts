import type { Checkpoints, TurnContext, TurnOutcome } from "@flint/core/ports";
import { BareDriver, Gate, testEngine } from "@flint/testkit";
import { expect, test } from "vitest";

/** An agent that writes without asking, so that everything is saved before it starts. */
class WritingDriver extends BareDriver {
  override readonly asksFirst = false;

  constructor() {
    super({ run: async (): Promise<TurnOutcome> => ({ status: "completed" }) });
  }
}

/** An agent that asks before each of two commands, so that everything is saved before the first that may write. */
class AskingDriver extends BareDriver {
  override readonly asksFirst = true;

  constructor() {
    const run = async ({ approve }: TurnContext): Promise<TurnOutcome> => {
      for (const itemId of ["one", "two"])
        await approve({ kind: "command", itemId, command: "make", cwd: "/large" });
      return { status: "completed" };
    };
    super({ run });
  }
}

/** Checkpoints of a folder so large that saving it lasts until the gate opens, the next gate each time. */
function slowCheckpoints(...gates: Gate[]): Checkpoints {
  const nothing = async () => ({ files: [], conflicts: [], notSaved: [], savedTurnIds: [] });
  return {
    begin: async () => ({
      saveFiles: () => undefined,
      saveWorkspace: async () => gates.shift()?.wait(),
      end: async () => undefined,
    }),
    preview: nothing,
    restore: nothing,
    undo: nothing,
    remove: async () => undefined,
    close: async () => undefined,
  };
}

async function begun() {
  const gate = new Gate();
  const server = testEngine({ driver: new WritingDriver(), checkpoints: slowCheckpoints(gate) });
  const client = server.connect();
  const threadId = await client.startThread({ cwd: "/large" });
  const ended = client.waitFor("turn/completed");
  await client.startTurn(threadId, "go");
  await gate.reached;
  return { gate, server, client, ended, threadId };
}

test("warns clients once when saving the files before a turn takes longer than a second", async () => {
  const { gate, server, client, ended, threadId } = await begun();
  await server.clock.advance(999);
  expect(client.eventsOf("warning")).toEqual([]);
  await server.clock.advance(60_000);
  const data = {
    threadId,
    reason: "savingFiles",
    message: expect.stringContaining("Saving a checkpoint of /large"),
  };
  expect(client.eventsOf("warning")).toMatchObject([{ data }]);
  gate.open();
  await ended;
});

test("sends no warning when the files are saved faster", async () => {
  const { gate, server, client, ended } = await begun();
  await server.clock.advance(500);
  gate.open();
  await ended;
  await server.clock.advance(60_000);
  expect(client.eventsOf("warning")).toEqual([]);
});

test("warns once per turn, even if an agent waits before several commands", async () => {
  const gates = [new Gate(), new Gate()] as const;
  const server = testEngine({ driver: new AskingDriver(), checkpoints: slowCheckpoints(...gates) });
  const client = server.connect();
  const threadId = await client.startThread({ cwd: "/large", approvalPolicy: "never" });
  const ended = client.waitFor("turn/completed");
  await client.startTurn(threadId, "go");
  for (const gate of gates) {
    await gate.reached;
    await server.clock.advance(2_000);
    expect(client.eventsOf("warning")).toMatchObject([{ data: { threadId, reason: "savingFiles" } }]);
    gate.open();
  }
  await ended;
});
