import { type HostRule, parseHostRule } from "@flint/protocol";
import { settled, TestClock } from "@flint/testkit";
import { describe, expect, onTestFinished, test } from "vitest";
import {
  type AskUser,
  type ConnectionRequest,
  HostGate,
  type HostGateOptions,
  type NetworkAnswer,
} from "./host-gate.ts";

const REGISTRY: ConnectionRequest = { host: "registry.example", port: 443 };
const ALLOWED = { outcome: "allow" };
const ONCE: NetworkAnswer = { decision: "allow", scope: "once" };

function rule(text: string): HostRule {
  const parsed = parseHostRule(text);
  if (!parsed.ok) throw new Error(parsed.reason);
  return parsed.value;
}

/** A user whose answers the test gives. */
function user() {
  const asked: { readonly about: string; answer(answer: NetworkAnswer): void; fail(): void }[] = [];
  const ask: AskUser = ({ host, port, command }) =>
    new Promise((resolve, reject) => {
      const about = `${command ?? "?"} ${host}:${port}`;
      asked.push({ about, answer: resolve, fail: () => reject(new Error("no client")) });
    });
  return { ask, asked, answer: (answer: NetworkAnswer) => asked.at(-1)?.answer(answer) };
}

function gateWith(options: Partial<HostGateOptions> = {}) {
  const clock = new TestClock();
  return { clock, gate: new HostGate({ clock, ...options }) };
}

test("asks again for the next connection where the answer is for this one only", async () => {
  const answers = ["allow", "deny"] as const;
  let asked = 0;
  const gate = new HostGate({
    clock: new TestClock(),
    ask: async () => ({ decision: answers[asked++] ?? "deny", scope: "connection" }),
  });
  gate.addCommand("c");
  const request = { host: "a.example", port: 443, command: "c" };
  expect([await gate.decide(request), await gate.decide(request)]).toMatchObject([
    ...[{ outcome: "allow" }, { outcome: "deny" }],
  ]);
});

describe("without a user to ask", () => {
  test("allows what rules allow, and says how to allow the rest", async () => {
    const { gate } = gateWith({ allow: [rule("registry.example")], deny: [rule("evil.example")] });
    expect(await gate.decide(REGISTRY)).toEqual(ALLOWED);
    expect(await gate.decide({ host: "other.example", port: 443 })).toMatchObject({
      code: "blocked-by-allowlist",
      reason: expect.stringContaining("--network other.example:443"),
    });
    expect(await gate.decide({ host: "evil.example", port: 8443 })).toMatchObject({
      code: "blocked-by-denylist",
    });
  });

  test("lets a command alone reach the hosts it was given, until it ends", async () => {
    const { gate } = gateWith();
    gate.addCommand("one", [rule("registry.example")]);
    gate.addCommand("two");
    const decide = (command?: string) =>
      gate.decide(command === undefined ? REGISTRY : { ...REGISTRY, command });
    expect(await decide("one")).toEqual(ALLOWED);
    expect(await decide("two")).toMatchObject({ outcome: "deny" });
    expect(await decide()).toMatchObject({ outcome: "deny" });
    gate.removeCommand("one");
    expect(await decide("one")).toMatchObject({ outcome: "deny" });
  });

  test("lets a deny rule beat what a command was given", async () => {
    const { gate } = gateWith({ deny: [rule("registry.example")] });
    gate.addCommand("one", [rule("registry.example")]);
    expect(await gate.decide({ ...REGISTRY, command: "one" })).toMatchObject({ code: "blocked-by-denylist" });
  });
});

describe("asking the user", () => {
  test("asks once for all connections that wait for a host", async () => {
    const { ask, asked, answer } = user();
    const held: ConnectionRequest[] = [];
    const { gate } = gateWith({ ask, onHeld: (request) => held.push(request) });
    gate.addCommand("npm");
    const request = { ...REGISTRY, command: "npm" };
    const decisions = [gate.decide(request), gate.decide(request), gate.decide(request)];
    await settled();
    expect(asked.map(({ about }) => about)).toEqual(["npm registry.example:443"]);
    answer(ONCE);
    expect(await Promise.all(decisions)).toEqual([ALLOWED, ALLOWED, ALLOWED]);
    expect(held).toHaveLength(3);
    expect(await gate.decide(request)).toEqual(ALLOWED);
    expect(asked).toHaveLength(1);
  });

  test("does not ask about hosts that a program is not meant to reach", async () => {
    const { ask, asked } = user();
    const { gate } = gateWith({ ask });
    gate.addCommand("agent", [rule("api.example")], [rule("*.telemetry.example")]);
    const decide = (host: string) => gate.decide({ host, port: 443, command: "agent" });
    expect(await decide("api.example")).toEqual(ALLOWED);
    expect(await decide("a.telemetry.example")).toMatchObject({ code: "blocked-by-denylist" });
    expect(asked).toEqual([]);
    void gate.decide({ host: "a.telemetry.example", port: 443 });
    await settled();
    expect(asked).toHaveLength(1);
  });

  test("asks about another port of the same host again", async () => {
    const { ask, asked, answer } = user();
    const { gate } = gateWith({ ask });
    const first = gate.decide(REGISTRY);
    await settled();
    answer({ decision: "allow", scope: "thread" });
    expect(await first).toEqual(ALLOWED);
    void gate.decide({ ...REGISTRY, port: 80 });
    await settled();
    expect(asked.map(({ about }) => about)).toEqual(["? registry.example:443", "? registry.example:80"]);
  });

  test("grants once to the command in the question; another one that waited asks for itself", async () => {
    const { ask, asked, answer } = user();
    const { gate } = gateWith({ ask });
    for (const id of ["one", "two"]) gate.addCommand(id);
    const one = gate.decide({ ...REGISTRY, command: "one" });
    const two = gate.decide({ ...REGISTRY, command: "two" });
    await settled();
    answer(ONCE);
    expect(await one).toEqual(ALLOWED);
    await settled();
    expect(asked.map(({ about }) => about)).toEqual(["one registry.example:443", "two registry.example:443"]);
    answer({ decision: "deny", scope: "once" });
    expect(await two).toMatchObject({ code: "declined" });
    expect(await gate.decide({ ...REGISTRY, command: "one" })).toEqual(ALLOWED);
    expect(await gate.decide({ ...REGISTRY, command: "two" })).toMatchObject({ code: "declined" });
  });

  test("grants to the thread for every command, and declines for every command", async () => {
    const { ask, asked, answer } = user();
    const { gate } = gateWith({ ask });
    gate.addCommand("one");
    const first = gate.decide({ ...REGISTRY, command: "one" });
    await settled();
    answer({ decision: "deny", scope: "thread" });
    expect(await first).toMatchObject({ code: "declined" });
    expect(await gate.decide(REGISTRY)).toMatchObject({ code: "declined" });
    gate.allow(rule("registry.example"));
    expect(await gate.decide(REGISTRY)).toEqual(ALLOWED);
    expect(asked).toHaveLength(1);
  });

  test("refuses a connection after 60 s, and counts a late answer for the retry", async () => {
    const { ask, asked, answer } = user();
    const { gate, clock } = gateWith({ ask });
    gate.addCommand("npm");
    const request = { ...REGISTRY, command: "npm" };
    const first = gate.decide(request);
    await clock.advance(59_999);
    const joined = gate.decide(request);
    await clock.advance(1);
    expect(await first).toMatchObject({ code: "unanswered" });
    await clock.advance(60_000);
    expect(await joined).toMatchObject({ code: "unanswered" });
    answer(ONCE);
    await settled();
    expect(await gate.decide(request)).toEqual(ALLOWED);
    expect(asked).toHaveLength(1);
    expect(clock.pending).toBe(0);
  });

  test("counts a late answer once where the connection had no command", async () => {
    const { ask, asked, answer } = user();
    const { gate, clock } = gateWith({ ask });
    const first = gate.decide(REGISTRY);
    await clock.advance(60_000);
    expect(await first).toMatchObject({ code: "unanswered" });
    answer(ONCE);
    await settled();
    expect(await gate.decide(REGISTRY)).toEqual(ALLOWED);
    void gate.decide(REGISTRY);
    await settled();
    expect(asked).toHaveLength(2);
  });

  test("refuses where no one could be asked, and asks again next time", async () => {
    const { ask, asked } = user();
    const { gate } = gateWith({ ask });
    const first = gate.decide(REGISTRY);
    await settled();
    asked[0]?.fail();
    expect(await first).toMatchObject({
      code: "blocked-by-allowlist",
      reason: expect.stringContaining("no one"),
    });
    void gate.decide(REGISTRY);
    await settled();
    expect(asked).toHaveLength(2);
  });

  test("asks about few hosts at a time", async () => {
    const { ask, asked } = user();
    const { gate } = gateWith({ ask });
    const decisions = Array.from({ length: 20 }, (_, at) =>
      gate.decide({ host: `a${at}.example`, port: 443 }),
    );
    await settled();
    expect(asked).toHaveLength(8);
    expect(await decisions.at(-1)).toMatchObject({ code: "too-many-questions" });
    gate.close();
    expect(await Promise.all(decisions)).toHaveLength(20);
  });

  test("refuses what waits when the thread ends, and withdraws the question", async () => {
    let signal: AbortSignal | undefined;
    const ask: AskUser = (question) => {
      signal = question.signal;
      return new Promise(() => undefined);
    };
    const { gate } = gateWith({ ask });
    const waiting = gate.decide(REGISTRY);
    await settled();
    gate.close();
    expect(await waiting).toMatchObject({ outcome: "deny" });
    expect(signal?.aborted).toBe(true);
    expect(await gate.decide(REGISTRY)).toMatchObject({ outcome: "deny" });
  });
});

test("holds many connections without a warning about leaks", async () => {
  const warnings: Error[] = [];
  const onWarning = (warning: Error) => warnings.push(warning);
  process.on("warning", onWarning);
  onTestFinished(() => void process.off("warning", onWarning));
  const gate = new HostGate({ clock: new TestClock(), ask: () => new Promise(() => undefined) });
  const held = Array.from({ length: 50 }, () => gate.decide({ host: "a.example", port: 443 }));
  await settled();
  gate.close();
  expect((await Promise.all(held)).every(({ outcome }) => outcome === "deny")).toBe(true);
  await new Promise((resolve) => setImmediate(resolve));
  expect(warnings).toEqual([]);
});
