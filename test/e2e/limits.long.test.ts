import { needs } from "@flint/testkit";
import { expect } from "vitest";
import { setUpExec } from "./exec-runs.ts";

/** A real agent takes its time, most of all to start on a busy machine. */
const TEST_MS = 90_000;

const LARGE = { usage: { inputTokens: 100_000, outputTokens: 1_000 } };

const shell = (command: string) => [LARGE, { call: "Bash", input: { command } }];

/** Claude hands the work to a sub-agent, which makes four large calls of the model. */
const CLAUDE_SCRIPT = [
  {
    when: "delegate",
    parts: [
      {
        call: "Task",
        input: { description: "sub", prompt: "greet the lamp", subagent_type: "general-purpose" },
      },
    ],
  },
  { when: "greet the lamp", parts: shell("echo first") },
  ...[shell("echo second"), shell("echo third"), shell("echo fourth")],
  ...[[{ text: "greeted" }], [{ text: "all done" }]],
];

for (const [option, amount, message] of [
  ["--max-cost", "0.6", "Stopped at the cost limit of $0.6 (--max-cost)."],
  ["--max-steps", "3", "Stopped at the model call limit of 3 (--max-steps)."],
  ["--max-tokens", "150000", "Stopped at the token limit of 150000 (--max-tokens)."],
] as const) {
  needs("claude")(
    `a sub-agent of claude is stopped at ${option}`,
    async () => {
      const { run } = await setUpExec("", CLAUDE_SCRIPT);
      const { code, output } = await run(["--agent", "claude", "--offline", option, amount, "delegate"]);
      expect(output).toContain(message);
      expect(output).toContain("first");
      expect(output).not.toContain("fourth");
      expect(code).toBe(5);
    },
    TEST_MS,
  );
}

/** A turn of Codex that costs about a seventh of a dollar. */
const CODEX_TURN = [{ usage: { inputTokens: 70_000, outputTokens: 10 } }, { text: "done" }];

needs("codex")(
  "the cost of codex, which is only estimated, adds up to the limit of its thread",
  async () => {
    const config = "[budget.thread]\ncost_usd = 0.2\n";
    const { run } = await setUpExec(config, [CODEX_TURN, CODEX_TURN, CODEX_TURN]);
    const codes: number[] = [];
    for (const more of [[], ["--continue"], ["--continue"]]) {
      const { code } = await run(["--agent", "codex", "--offline", ...more, "go on"]);
      codes.push(code);
    }
    expect(codes).toEqual([0, 5, 5]);
  },
  TEST_MS,
);

needs("codex")(
  "a model with a version in its name is stopped by the price that the user configured for it",
  async () => {
    const config = '[models."gpt-6.1-sol"]\nprice_input = 1000\nprice_output = 1000\n';
    const { run } = await setUpExec(config, [
      [{ usage: { inputTokens: 70_000, outputTokens: 10 } }, { call: "update_plan", input: { plan: [] } }],
      CODEX_TURN,
    ]);
    const { code, output } = await run(["--agent", "codex", "--offline", "--max-cost", "50", "go on"]);
    expect(output).toContain("Stopped at the cost limit of $50 (--max-cost).");
    expect(code).toBe(5);
  },
  TEST_MS,
);

/** Codex hands the work to a sub-agent and waits for it; the sub-agent makes four large calls of the model. */
const CODEX_SUB_AGENT = [
  {
    when: "delegate",
    parts: [
      {
        call: "spawn_agent",
        input: { task_name: "lamp", message: "greet the lamp", fork_turns: "none" },
      },
    ],
  },
  { when: "delegate", parts: [{ call: "wait_agent", input: { timeout_ms: 30_000 } }] },
  { when: "delegate", parts: [{ text: "all done" }] },
  ...["first", "second", "third", "fourth"].map((word) => [
    LARGE,
    { call: "exec", raw: `text(JSON.stringify(await tools.exec_command({cmd:'echo ${word}'})))` },
  ]),
  [{ text: "greeted" }],
];

for (const [option, amount, message] of [
  ["--max-steps", "4", "Stopped at the model call limit of 4 (--max-steps)."],
  ["--max-tokens", "250000", "Stopped at the token limit of 250000 (--max-tokens)."],
] as const) {
  needs("codex")(
    `a sub-agent of codex is stopped at ${option}`,
    async () => {
      const { run } = await setUpExec("", CODEX_SUB_AGENT);
      const { code, output } = await run(["--agent", "codex", "--offline", option, amount, "delegate"]);
      expect(output).toContain(message);
      expect(output).toContain("first");
      expect(output).not.toContain("fourth");
      expect(code).toBe(5);
    },
    TEST_MS,
  );
}
