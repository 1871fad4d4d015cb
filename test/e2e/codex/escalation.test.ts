import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { agentProgram } from "@flint/testkit";
import { expect } from "vitest";
import { needsTui, TuiFixture } from "./tui.ts";

/** Several programs are started one after the other, on a machine that may be busy. */
const TEST_MS = 150_000;

/** Both can only succeed outside of the sandbox. */
const ALLOWED = "echo run >> ../count; echo lantern";
const DECLINED = "touch ../declined";

const DONE = [{ text: "All done." }];
const escalate = (cmd: string) => {
  const call = { cmd, sandbox_permissions: "require_escalated", justification: "It is outside." };
  return [{ call: "exec", raw: `text(JSON.stringify(await tools.exec_command(${JSON.stringify(call)})))` }];
};
const leave = (command: string) => [
  { call: "Bash", input: { command, dangerouslyDisableSandbox: true, description: "It is outside." } },
];

/** How the model of each agent asks to run a command outside of the sandbox. */
const AGENTS = [
  { agent: "claude", model: "Claude's default", outside: leave },
  { agent: "codex", model: "Codex", outside: escalate },
] as const;

for (const { agent, model, outside } of AGENTS) {
  needsTui(agent)(
    `the stock Codex TUI asks before a command of ${agent} leaves the sandbox, and shows a declined one as declined`,
    async () => {
      const configuration = `[agents.${agent}]\ncommand = ${JSON.stringify([agentProgram(agent) ?? agent])}\n`;
      const script = [
        { when: "first", parts: outside(ALLOWED) },
        DONE,
        { when: "second", parts: outside(DECLINED) },
        DONE,
      ];
      const fixture = await TuiFixture.make(["--agent", agent, "--offline"], configuration, { script });
      const folder = join(fixture.workspace, "..");
      const tui = await fixture.tui();
      await tui.isReady(model);
      await tui.ask("first");
      await tui.shows("It is outside.");
      await tui.answer(`$ ${ALLOWED}`, "y");
      await tui.shows("└ lantern");
      await tui.isDone();
      expect(await readFile(join(folder, "count"), "utf8")).toBe("run\n");
      await tui.ask("second");
      await tui.answer(`$ ${DECLINED}`, "d");
      await tui.isDone();
      const screen = await tui.terminal.everything();
      expect(existsSync(join(folder, "declined")), screen).toBe(false);
      expect(screen).toMatch(/Ran touch \.\.\/declined\n +└ Declined\. It did not run\./);
      expect(screen).not.toContain("flint-run");
      await tui.quit();
    },
    TEST_MS,
  );
}
