import type { PolicyRules, RuleDecision } from "@flint/core/ports";
import { type Script, type TestEngineOptions, testEngine, verifies } from "@flint/testkit";
import { describe, expect, test } from "vitest";

/** Rules by the first word of a command. */
function rulesBy(
  words: Readonly<Record<string, RuleDecision["decision"]>>,
  unanswered: PolicyRules["unanswered"] = "ask",
): PolicyRules {
  return {
    source: "ci.toml",
    unanswered,
    judge(action) {
      const word = action.kind === "command" ? action.command.split(" ")[0] : undefined;
      const decision = words[word ?? ""];
      return decision && { decision, reason: `Rule 1 of ci.toml (line 4) says ${decision}.` };
    },
  };
}

async function run(script: Script, options: TestEngineOptions) {
  const server = testEngine({ scripts: [script], ...options });
  const client = server.connect();
  const threadId = await client.startThread();
  const turn = await client.turnEnd(await client.startTurn(threadId, "go"));
  return { turn, client, decisions: server.driver.turns[0]?.decisions };
}

describe("rules of a policy file", () => {
  test('allow without asking, and deny even under "never", naming command and rule', async () => {
    const script: Script = [{ command: "make all" }, { command: "rm -r build" }];
    for (const approvalPolicy of ["never", "unlessTrusted", "always"] as const) {
      const policyRules = rulesBy({ make: "allow", rm: "deny" });
      const { client, decisions } = await run(script, { approvalPolicy, policyRules });
      expect(client.eventsOf("approval/requested")).toEqual([]);
      expect(decisions).toEqual([
        { outcome: "allow", scope: "once" },
        {
          outcome: "deny",
          scope: "once",
          message: "It was declined: rm -r build. Rule 1 of ci.toml (line 4) says deny.",
        },
      ]);
    }
  });

  verifies(
    "P14",
    "decline at once what would be asked about, naming the command and the way out",
    async () => {
      const policyRules = rulesBy({}, "decline");
      const { client, decisions, turn } = await run([{ command: "make all" }], { policyRules });
      expect(client.eventsOf("approval/requested")).toEqual([]);
      expect(turn.items.at(-1)).toMatchObject({ command: "make all", status: "declined" });
      expect(decisions?.[0]?.message).toBe(
        'It was declined: make all. No rule of ci.toml allows it; add one, or set unanswered = "ask".',
      );
    },
  );

  test("are named on what they allowed, and on nothing that they declined", async () => {
    const script: Script = [{ command: "make all" }, { command: "rm -r build" }];
    const { client } = await run(script, { policyRules: rulesBy({ make: "allow", rm: "deny" }) });
    const commands = client
      .eventsOf("item/completed")
      .flatMap(({ data: { item } }) => (item.type === "commandExecution" ? [item] : []));
    expect(commands).toMatchObject([
      {
        command: "make all",
        allowed: { by: "policyFile", reason: "Rule 1 of ci.toml (line 4) says allow." },
      },
      { command: "rm -r build", status: "declined" },
    ]);
    expect(commands[1]).not.toHaveProperty("allowed");
  });

  test("an ask rule overrides an earlier grant", async () => {
    const server = testEngine({
      scripts: [[{ command: "make" }, { command: "make" }]],
      policyRules: rulesBy({ make: "ask" }),
    });
    const client = server.connect();
    const threadId = await client.startThread();
    const turnId = await client.startTurn(threadId, "go");
    for (const place of [0, 1]) {
      await client.waitFor("approval/requested", () => client.eventsOf("approval/requested").length > place);
      const approval = client.eventsOf("approval/requested")[place]?.data.approval;
      expect(approval?.action.reason).toBe("Rule 1 of ci.toml (line 4) says ask.");
      const decision = { outcome: "allow", scope: "session" } as const;
      await client.call("approval/respond", { threadId, approvalId: approval?.id ?? "", decision });
    }
    expect((await client.turnEnd(turnId)).status).toBe("completed");
  });
});
