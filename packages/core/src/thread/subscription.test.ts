import {
  type Approval,
  type EventBody,
  emptyThread,
  type StoredEvent,
  type ThreadEvent,
  type ThreadState,
} from "@flint/protocol";
import { Gate, settled } from "@flint/testkit";
import { describe, expect, test } from "vitest";
import { type SubscribedLog, Subscription } from "./subscription.ts";

const approval: Approval = {
  id: "a",
  turnId: "u",
  action: { kind: "command", itemId: "c", command: "make", cwd: "/" },
  requestedAtMs: 0,
  expiresAtMs: 1,
};
const asked: EventBody = { type: "approval/requested", data: { threadId: "t", approval } };

/** A log that is sent by hand. */
class HandLog implements SubscribedLog {
  readonly events: StoredEvent[] = [];
  toldSeq = 0;
  state: ThreadState = emptyThread("t");
  readWaits: () => Promise<void> = async () => undefined;

  settle() {
    return { state: this.state, toldSeq: this.toldSeq };
  }

  async *read(afterSeq: number): AsyncGenerator<StoredEvent> {
    await this.readWaits();
    yield* this.events.slice(afterSeq);
  }

  now(): number {
    return 0;
  }

  /** Puts an event into the log and, unless it still waits for something, counts it as sent. */
  add(body: EventBody, isTold = true): StoredEvent {
    const event: StoredEvent = { ...body, seq: this.events.length + 1, at: 0 };
    this.events.push(event);
    if (isTold) this.toldSeq = event.seq;
    return event;
  }
}

function named(name: string): EventBody {
  return { type: "thread/name/updated", data: { threadId: "t", name } };
}

function subscribe(log: SubscribedLog, afterSeq = 0) {
  const sent: ThreadEvent[] = [];
  const client = { full: false };
  const subscriber = {
    send: (event: ThreadEvent) => void sent.push(event),
    isFull: () => client.full,
  };
  const subscription = new Subscription(log, subscriber, afterSeq);
  return { sent, client, subscription, numbers: () => sent.map((event) => event.seq) };
}

describe("one who follows a log", () => {
  test("is live at once when there is nothing to catch up with", () => {
    const log = new HandLog();
    const event = log.add(named("one"));
    const { subscription, sent } = subscribe(log, 1);
    void subscription.catchUp();
    subscription.receive(event);
    expect(sent).toEqual([]);
    const next = log.add(named("two"));
    subscription.receive(next);
    expect(sent).toEqual([next]);
  });

  test("is not sent from the log what was not yet sent to anybody", async () => {
    const log = new HandLog();
    log.add(named("one"));
    const waiting = log.add(named("waits for the disk"), false);
    const { subscription, numbers } = subscribe(log);
    await subscription.catchUp();
    expect(numbers()).toEqual([1]);
    log.toldSeq = 2;
    subscription.receive(waiting);
    expect(numbers()).toEqual([1, 2]);
  });

  test("catches up with what keeps coming while it reads", async () => {
    const log = new HandLog();
    log.add(named("one"));
    const { subscription, numbers } = subscribe(log);
    const catchingUp = subscription.catchUp();
    subscription.receive(log.add(named("two")));
    await catchingUp;
    subscription.receive(log.add(named("three")));
    expect(numbers()).toEqual([1, 2, 3]);
  });

  test("goes on when there is room again, also if that was while it found out that there is none", async () => {
    const log = new HandLog();
    log.add(named("one"));
    log.add(named("two"));
    const { subscription, client, numbers } = subscribe(log);
    const reading = new Gate();
    log.readWaits = () => reading.wait();
    const catchingUp = subscription.catchUp();
    client.full = true;
    reading.open();
    await reading.opened;
    client.full = false;
    await subscription.catchUp();
    await catchingUp;
    expect(numbers()).toEqual([1, 2]);
  });

  test("stays behind while there is no room, and is sent nothing twice afterwards", async () => {
    const log = new HandLog();
    const { subscription, client, numbers } = subscribe(log);
    await subscription.catchUp();
    client.full = true;
    for (const name of ["one", "two", "three"]) subscription.receive(log.add(named(name)));
    await subscription.catchUp();
    expect(numbers()).toEqual([]);
    client.full = false;
    await subscription.catchUp();
    expect(numbers()).toEqual([1, 2, 3]);
  });

  test("is asked once what is open, also if it learns of it in two ways", async () => {
    const log = new HandLog();
    log.state = { ...log.state, approvals: [approval] };
    const waiting = log.add(asked, false);
    const { subscription, sent } = subscribe(log);
    await subscription.catchUp();
    log.toldSeq = 1;
    subscription.receive(waiting);
    subscription.receive(log.add(named("later")));
    expect(sent.map((event) => event.type)).toEqual(["approval/requested", "thread/name/updated"]);
  });

  test("is not asked again when it falls behind and catches up", async () => {
    const log = new HandLog();
    log.state = { ...log.state, approvals: [approval] };
    const event = log.add(asked);
    const { subscription, client, sent } = subscribe(log);
    await subscription.catchUp();
    expect(sent).toEqual([event]);
    client.full = true;
    subscription.receive(log.add(named("one")));
    client.full = false;
    await subscription.catchUp();
    expect(sent.map((known) => known.type)).toEqual(["approval/requested", "thread/name/updated"]);
  });

  test("hears why it is not sent any more when the log cannot be read", async () => {
    const log = new HandLog();
    log.add(named("one"));
    log.readWaits = async () => {
      throw new Error("The disk is gone.");
    };
    const { subscription, sent } = subscribe(log);
    await subscription.catchUp();
    expect(sent).toMatchObject([{ type: "warning", data: { reason: "followingFailed" } }]);
    expect(subscription.isClosed).toBe(true);
    subscription.receive(log.add(named("two")));
    expect(sent).toHaveLength(1);
  });

  test("is sent nothing after it was let go, not even from a read under way", async () => {
    const log = new HandLog();
    log.add(named("one"));
    const reading = new Gate();
    log.readWaits = () => reading.wait();
    const { subscription, sent } = subscribe(log);
    const catchingUp = subscription.catchUp();
    subscription.close();
    reading.open();
    await catchingUp;
    await settled();
    expect(sent).toEqual([]);
  });
});
