import type { Engine } from "@flint/core";
import { ClientConnection } from "@flint/frontends";
import { flintFrontend } from "@flint/frontends/flint";
import { harnessFrontend } from "@flint/frontends/harness";
import { memoryPair, Peer } from "@flint/rpc";
import { connect, type FlintClient } from "@flint/sdk";
import { composeEngine } from "@flint/server";
import { Gate, type Script, scriptedDriver, temporaryFolder } from "@flint/testkit";
import { describe, expect, onTestFinished, test } from "vitest";

/** One engine with two front ends, and ways in through each. */
async function twoFrontends(script: Script) {
  const { path } = await temporaryFolder();
  const driver = scriptedDriver({ scripts: () => script });
  const engine: Engine = composeEngine({
    root: path,
    cwd: path,
    drivers: [driver],
    approvalPolicy: "always",
  });
  onTestFinished(() => engine.close());
  const flint = flintFrontend();
  const harness = harnessFrontend();
  return {
    viaFlint(): Promise<FlintClient> {
      const [ours, theirs] = memoryPair();
      new ClientConnection(flint, engine, ours);
      return connect({ transport: theirs, onApproval: () => "leave" });
    },
    viaHarness() {
      const [ours, theirs] = memoryPair();
      new ClientConnection(harness, engine, ours);
      return new HarnessSide(theirs);
    },
  };
}

/** A client of the harness front end that records what it is sent. */
class HarnessSide {
  readonly received: { method: string; params: unknown }[] = [];
  readonly peer: Peer;
  #waiting: (() => void)[] = [];

  constructor(transport: ConstructorParameters<typeof Peer>[0]) {
    this.peer = new Peer(transport, {
      header: true,
      lineLimit: 1_000_000,
      queueLimit: 1_000_000,
      handlers: {
        request: () => undefined,
        notification: (method, params) => {
          this.received.push({ method, params });
          for (const wake of this.#waiting.splice(0)) wake();
        },
        bad: () => undefined,
      },
    });
    this.peer.start();
  }

  /** The params of the first notification with this method. */
  async notification(method: string): Promise<unknown> {
    for (;;) {
      const found = this.received.find((message) => message.method === method);
      if (found !== undefined) return found.params;
      await new Promise<void>((wake) => this.#waiting.push(wake));
    }
  }
}

describe("one live thread behind two front ends", () => {
  test("a turn started at one front end is seen at the other, which answers its approval [S0-1, S1-19]", async () => {
    const frontends = await twoFrontends([
      { text: "on it" },
      { command: "make", output: ["built\n"] },
      { text: "done" },
    ]);
    const client = await frontends.viaFlint();
    const thread = await client.startThread({});
    const watcher = frontends.viaHarness();
    const got = await watcher.peer.request("thread.get", { threadId: thread.id });
    expect(got).toMatchObject({ thread: { threadId: thread.id } });
    const attached = await frontends.viaFlint();
    await attached.call("thread/attach", { threadId: thread.id });
    const seen: string[] = [];
    const second = attached.events(thread.id);
    const running = thread.run("go");
    let open: string | undefined;
    for await (const event of second) {
      seen.push(event.type);
      if (event.type !== "approval/requested") continue;
      open = event.data.approval.id;
      break;
    }
    expect(thread.state.approvals.map(({ id }) => id)).toEqual([open]);
    const requestId = `${thread.id}.${open}`;
    expect(await watcher.notification("approval.requested")).toMatchObject({ requestId });
    const answer = { requestId, decision: "once" };
    expect(await watcher.peer.request("approval.respond", answer)).toEqual({ ok: true });
    const result = await running;
    expect(result).toMatchObject({ status: "completed", text: "done" });
    expect(seen).toContain("turn/started");
    expect(thread.state.approvals).toEqual([]);
  });

  test("a client that attaches late is sent the item in progress and continues from there", async () => {
    const gate = new Gate();
    const frontends = await twoFrontends([
      { command: "slow", asks: false, output: ["half\n"], until: gate },
      { text: "over" },
    ]);
    const first = await frontends.viaFlint();
    const thread = await first.startThread({});
    const running = thread.run("go");
    await gate.reached;
    const late = await frontends.viaFlint();
    const handle = await late.startThread({}).then(() => late);
    const snapshot = await handle.call("thread/attach", { threadId: thread.id });
    expect(snapshot.turns.at(-1)).toMatchObject({
      status: "inProgress",
      items: [
        { type: "userMessage" },
        { type: "commandExecution", status: "inProgress", aggregatedOutput: "half\n" },
      ],
    });
    const events = late.events(thread.id);
    gate.open();
    const types: string[] = [];
    for await (const event of events) {
      types.push(event.type);
      if (event.type === "turn/completed") break;
    }
    expect(types).toContain("item/completed");
    expect((await running).status).toBe("completed");
  });
});
