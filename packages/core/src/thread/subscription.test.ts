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
import { SentText, type SubscribedLog, Subscription } from "./subscription.ts";

const approval: Approval = {
  id: "a",
  turnId: "u",
  action: { kind: "command", itemId: "c", command: "make", cwd: "/" },
  requestedAtMs: 0,
  expiresAtMs: 1,
};
const asked: EventBody = { type: "approval/requested", data: { threadId: "t", approval } };

/** A log that a test fills and sends by hand. */
class ManualLog implements SubscribedLog {
  readonly events: StoredEvent[] = [];
  sentSeq = 0;
  state: ThreadState = emptyThread("t");
  readWaits: () => Promise<void> = async () => undefined;

  settle() {
    return { state: this.state, sentSeq: this.sentSeq };
  }

  async *read(afterSeq: number): AsyncGenerator<StoredEvent> {
    await this.readWaits();
    yield* this.events.slice(afterSeq);
  }

  now(): number {
    return 0;
  }

  /** Puts an event into the log and, unless it still waits for something, marks it as sent. */
  add(body: EventBody, isSent = true): StoredEvent {
    const event: StoredEvent = { ...body, seq: this.events.length + 1, at: 0 };
    this.events.push(event);
    if (isSent) this.sentSeq = event.seq;
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

describe("a subscription", () => {
  test("is live at once when there is nothing to catch up with", () => {
    const log = new ManualLog();
    const event = log.add(named("one"));
    const { subscription, sent } = subscribe(log, 1);
    void subscription.catchUp();
    subscription.receive(event);
    expect(sent).toEqual([]);
    const next = log.add(named("two"));
    subscription.receive(next);
    expect(sent).toEqual([next]);
  });

  test("does not read events from the log that were not sent to anyone yet", async () => {
    const log = new ManualLog();
    log.add(named("one"));
    const waiting = log.add(named("waits for the disk"), false);
    const { subscription, numbers } = subscribe(log);
    await subscription.catchUp();
    expect(numbers()).toEqual([1]);
    log.sentSeq = 2;
    subscription.receive(waiting);
    expect(numbers()).toEqual([1, 2]);
  });

  test("catches up with events that arrive while it reads", async () => {
    const log = new ManualLog();
    log.add(named("one"));
    const { subscription, numbers } = subscribe(log);
    const catchingUp = subscription.catchUp();
    subscription.receive(log.add(named("two")));
    await catchingUp;
    subscription.receive(log.add(named("three")));
    expect(numbers()).toEqual([1, 2, 3]);
  });

  test("continues after a drain, also one that happens while it reads", async () => {
    const log = new ManualLog();
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

  test("stays behind while the subscriber is full, and sends nothing twice afterwards", async () => {
    const log = new ManualLog();
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

  test("sends an open request once, even if it arrives in two ways", async () => {
    const log = new ManualLog();
    log.state = { ...log.state, approvals: [approval] };
    const waiting = log.add(asked, false);
    const { subscription, sent } = subscribe(log);
    await subscription.catchUp();
    log.sentSeq = 1;
    subscription.receive(waiting);
    subscription.receive(log.add(named("later")));
    expect(sent.map((event) => event.type)).toEqual(["approval/requested", "thread/name/updated"]);
  });

  test("does not send a request again when it falls behind and catches up", async () => {
    const log = new ManualLog();
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

  test("warns the subscriber and closes when the log cannot be read", async () => {
    const log = new ManualLog();
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

  test("sends nothing after it was closed, not even from a pending read", async () => {
    const log = new ManualLog();
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

function piece(
  itemId: string,
  offset: number,
  delta: string,
): Extract<StoredEvent, { type: "item/agentMessage/delta" }> {
  const data = { threadId: "t", turnId: "u", itemId, offset, delta };
  return { type: "item/agentMessage/delta", data, seq: 5, at: 0 };
}

test("SentText cuts off the part of a stored piece that was sent before it was stored", () => {
  const sent = new SentText();
  sent.add(piece("a", 0, "Hel"));
  sent.add(piece("a", 3, "lo"));
  expect(sent.unsentPartOf(piece("a", 0, "Hello, you"))).toEqual(piece("a", 5, ", you"));
  expect(sent.unsentPartOf(piece("a", 0, "Hello"))).toBeUndefined();
  const later = piece("a", 5, ", you");
  expect(sent.unsentPartOf(later)).toBe(later);
});

test("SentText leaves other items and other events as they are", () => {
  const sent = new SentText();
  sent.add(piece("a", 0, "Hello"));
  const other = piece("b", 0, "Hello");
  expect(sent.unsentPartOf(other)).toBe(other);
  const archived: StoredEvent = { type: "thread/archived", data: { threadId: "t" }, seq: 6, at: 0 };
  expect(sent.unsentPartOf(archived)).toBe(archived);
});

test("SentText is empty after it was cleared", () => {
  const sent = new SentText();
  sent.add(piece("a", 0, "Hello"));
  sent.clear();
  const again = piece("a", 0, "Hello");
  expect(sent.unsentPartOf(again)).toBe(again);
});
