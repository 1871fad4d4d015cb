import {
  type Action,
  type Decision,
  declinedSubject,
  emptyThread,
  type ThreadItem,
  type ThreadSettings,
  type ThreadState,
} from "@flint/protocol";
import { expect, test } from "vitest";
import { NetworkGate } from "./network-gate.ts";

const REGISTRY = { host: "registry.example", port: 443 };
const ALLOW: Decision = { outcome: "allow", scope: "once" };
const DENY: Decision = { outcome: "deny", scope: "once" };

const ALLOWED = { allowed: true };
const DECLINED = { allowed: false, reason: "it was declined" };

/** A thread in whose running turn these commands run, and a user who answers with these decisions. */
function setUp(
  commands: readonly string[],
  decisions: Decision[],
  changed: Partial<ThreadSettings> = {},
  others: readonly ThreadItem[] = [],
  openIds: readonly string[] = [],
) {
  const asked: Action[] = [];
  let running = commands;
  const state = (): ThreadState => {
    const empty = emptyThread("t");
    const items = running.map((command) => ({
      ...{ type: "commandExecution" as const, id: `item-${command}`, command },
      ...{ cwd: "/code", status: "inProgress" as const },
    }));
    const settings: ThreadSettings = {
      ...empty.settings,
      sandboxPolicy: { type: "workspaceWrite" },
      ...changed,
    };
    const turns = [{ id: "u", status: "inProgress" as const, items: [...others, ...items] }];
    const openItemIds = [...openIds, ...items.map(({ id }) => id)];
    return { ...empty, settings, turns, activeTurnId: "u", openItemIds };
  };
  const late: string[] = [];
  const refused: string[] = [];
  const gate = new NetworkGate({
    ...{ deniedHosts: ["evil.example"], deniedBy: "p.toml" },
    addressRules: ["git.corp.example:443=10.2.0.0/16"],
    noteDeclined: (action, reason) => refused.push(`${declinedSubject(action)}: ${reason}`),
    state,
    onLateAnswer: (command, { host }) => late.push(`${command} may reach ${host}`),
    approve: async (action) => {
      asked.push(action);
      await answering;
      return decisions.shift() ?? DENY;
    },
  });
  let answering: Promise<void> = Promise.resolve();
  /** Holds all answers until the returned function is called. */
  const hold = () => {
    let answer = () => {};
    answering = new Promise((resolve) => {
      answer = resolve;
    });
    return answer;
  };
  const run = (next: readonly string[]) => {
    running = next;
  };
  return { gate, asked, run, hold, late, refused };
}

test("asks once per host while connections to it wait, and names the command", async () => {
  const { gate, asked } = setUp(["npm install"], [ALLOW]);
  expect(await Promise.all([gate.decide(REGISTRY), gate.decide(REGISTRY)])).toEqual([ALLOWED, ALLOWED]);
  expect(asked).toEqual([
    {
      ...{ kind: "command", itemId: "item-npm install", command: "npm install", cwd: "/code", running: true },
      needs: { network: { hosts: ["registry.example:443"] } },
    },
  ]);
  expect(gate.take("item-npm install")).toEqual([{ ...REGISTRY, allowed: true }]);
  expect(gate.take("item-npm install")).toEqual([]);
});

test("knows the private addresses that the settings and the policy file name for a host, and for its ports only", () => {
  const hosts = ["git.corp.example:443=10.1.2.3", "registry.example"];
  const { gate } = setUp([], [], { network: { hosts } });
  const of = (host: string, port: number) => gate.addressesOf({ host, port }).map(({ text }) => text);
  expect(of("git.corp.example", 443)).toEqual(["10.1.2.3", "10.2.0.0/16"]);
  expect([of("git.corp.example", 22), of("registry.example", 443)]).toEqual([[], []]);
});

test("connects to a host that is named with its addresses without asking", async () => {
  const network = { hosts: ["registry.example:443=10.1.2.3"] };
  const { gate, asked } = setUp(["npm install"], [], { network });
  expect(await gate.decide(REGISTRY)).toEqual(ALLOWED);
  expect(asked).toEqual([]);
});

test("an allow-once answer applies while that command runs, not to the next one", async () => {
  const { gate, asked, run } = setUp(["npm install"], [ALLOW, DENY]);
  expect([await gate.decide(REGISTRY), await gate.decide(REGISTRY)]).toEqual([ALLOWED, ALLOWED]);
  gate.take("item-npm install");
  run(["curl x"]);
  expect(await gate.decide(REGISTRY)).toEqual(DECLINED);
  expect(asked).toHaveLength(2);
  expect(gate.take("item-curl x")).toEqual([{ ...REGISTRY, ...DECLINED }]);
});

test("names every command that may be the one that connects", async () => {
  const { gate, asked } = setUp(["npm install", "curl x"], []);
  await gate.decide(REGISTRY);
  expect(asked[0]?.reason).toBe("It may also come from: curl x.");
});

test("refuses if no turn is running", async () => {
  const { gate, asked } = setUp([], []);
  expect(await gate.decide(REGISTRY)).toMatchObject({ allowed: false });
  expect(asked).toEqual([]);
});

test("asks once about a connection of the agent itself, and remembers that it was declined", async () => {
  const { gate, asked } = setUp([], [], {}, [{ type: "userMessage", id: "m", content: [] }]);
  expect([await gate.decide(REGISTRY), await gate.decide(REGISTRY)]).toEqual([DECLINED, DECLINED]);
  expect(asked).toMatchObject([{ kind: "tool", tool: "network", itemId: "m", arguments: REGISTRY }]);
});

test("says of a connection of the agent's own whether a tool waits for it", async () => {
  const said: ThreadItem = { type: "userMessage", id: "m", content: [] };
  const own = setUp([], [], {}, [said]);
  await own.gate.decide(REGISTRY);
  expect(own.asked).toMatchObject([{ forItself: true }]);
  const fetching = setUp([], [], {}, [said, { type: "webSearch", id: "search", query: "x" }], ["search"]);
  await fetching.gate.decide(REGISTRY);
  expect(fetching.asked).toMatchObject([{ itemId: "search", tool: "network" }]);
  expect(fetching.asked[0]).not.toHaveProperty("forItself");
});

test.each([
  ["none", { network: "none" as const }, false, 0],
  ["all", { network: "all" as const }, true, 0],
  ["its host", { network: { hosts: ["registry.example"] } }, true, 0],
  ["another host", { network: { hosts: ["other.example"] } }, false, 1],
  [
    "a policy with network access",
    { sandboxPolicy: { type: "workspaceWrite" as const, networkAccess: true } },
    true,
    0,
  ],
  ["a policy that only reads", { sandboxPolicy: { type: "readOnly" as const } }, false, 0],
])("with settings for %s, decides accordingly", async (_name, settings, allowed, questions) => {
  const { gate, asked } = setUp(["npm install"], [], settings);
  expect((await gate.decide(REGISTRY)).allowed).toBe(allowed);
  expect(asked).toHaveLength(questions);
});

test("an allow-once answer for a command with a known item does not apply to commands running in parallel", async () => {
  const { gate, asked } = setUp(["npm install", "curl x"], [ALLOW, DENY]);
  const [first, second] = [{ itemId: "item-npm install" }, { itemId: "item-curl x" }];
  const both = [gate.decide({ ...REGISTRY, ...first }), gate.decide({ ...REGISTRY, ...second })];
  expect(await Promise.all(both)).toEqual([ALLOWED, DECLINED]);
  expect(asked.map(({ itemId, reason }) => [itemId, reason])).toEqual([
    ["item-npm install", undefined],
    ["item-curl x", undefined],
  ]);
  expect(await gate.decide({ ...REGISTRY, ...first })).toEqual(ALLOWED);
  expect(asked).toHaveLength(2);
});

test("does not ask again about a declined host while that command runs", async () => {
  const { gate, asked } = setUp(["npm install"], [DENY]);
  expect([await gate.decide(REGISTRY), await gate.decide(REGISTRY)]).toEqual([DECLINED, DECLINED]);
  expect(asked).toHaveLength(1);
});

test("applies a late answer to one further run of the same command", async () => {
  const { gate, asked, run, hold, late } = setUp(["npm install"], [ALLOW, DENY, DENY]);
  const answer = hold();
  const held = gate.decide(REGISTRY);
  run(["curl x"]);
  answer();
  expect(await held).toEqual(ALLOWED);
  expect(late).toEqual(["npm install may reach registry.example"]);
  expect(gate.take("item-curl x")).toEqual([]);
  expect(await gate.decide(REGISTRY)).toEqual(DECLINED);
  run(["npm install"]);
  expect(await gate.decide(REGISTRY)).toEqual(ALLOWED);
  expect(asked).toHaveLength(2);
  gate.take("item-npm install");
  expect(await gate.decide(REGISTRY)).toEqual(DECLINED);
});

test("refuses when approvals are off, and says how to allow it", async () => {
  const { gate } = setUp(["npm install"], [DENY], { approvalPolicy: "never" });
  expect(await gate.decide(REGISTRY)).toMatchObject({
    reason: expect.stringContaining("--network registry.example:443"),
  });
});

test("records a connection that failed with the command that wanted it", () => {
  const { gate } = setUp(["npm install", "curl x"], []);
  const failed = { ...REGISTRY, allowed: true, reason: "it could not be reached" };
  gate.onFailed({ ...failed, itemId: "item-curl x" });
  expect([gate.take("item-npm install"), gate.take("item-curl x")]).toEqual([[], [failed]]);
});

test("refuses a host that the policy file denies, whatever else allows it, and notes it once", async () => {
  const { gate, asked, refused } = setUp(["npm install"], [], { network: "all" });
  const evil = { host: "evil.example", port: 8080 };
  expect([await gate.decide(evil), await gate.decide(evil)]).toMatchObject([
    { allowed: false },
    { allowed: false },
  ]);
  expect(await gate.decide({ host: "other.example", port: 443 })).toEqual(ALLOWED);
  expect(asked).toEqual([]);
  expect(refused).toEqual([
    "evil.example:8080 (npm install): Refused because a rule of p.toml denies connecting to evil.example.",
  ]);
});

test("notes what a thread without network refuses", async () => {
  const { gate, refused } = setUp(["npm install"], [], { network: "none" });
  expect(await gate.decide({ host: "registry.example", port: 443 })).toMatchObject({ allowed: false });
  expect(refused).toEqual([expect.stringContaining("allow hosts with --network HOST")]);
});

test("knows what an agent itself did not reach, the last three, until it does", async () => {
  const { gate } = setUp([], [], { network: { hosts: ["registry.example:443"] } });
  gate.onFailed({ ...REGISTRY, allowed: true, reason: "the host was not found" });
  expect(gate.refusedToAgent).toEqual([{ ...REGISTRY, reason: "the host was not found" }]);
  expect(await gate.decide(REGISTRY)).toEqual(ALLOWED);
  expect(gate.refusedToAgent).toEqual([]);
  for (const port of [1, 2, 3, 4]) gate.onFailed({ host: "a.example", port, allowed: false, reason: "no" });
  expect(gate.refusedToAgent.map(({ port }) => port)).toEqual([2, 3, 4]);
});

test("a connection that a command did not make is not one of its agent", async () => {
  const { gate } = setUp(["make"], [], { network: "none" });
  await gate.decide({ ...REGISTRY, itemId: "item-make" });
  expect(gate.refusedToAgent).toEqual([]);
});
