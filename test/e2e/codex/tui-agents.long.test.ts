import { existsSync } from "node:fs";
import { join } from "node:path";
import { agentProgram } from "@flint/testkit";
import { expect } from "vitest";
import { needsTui, TuiFixture } from "./tui.ts";

/** Several programs are started one after the other, on a machine that may be busy. */
const TEST_MS = 150_000;
/** Nothing that runs without a question, and harmless in every sandbox. */
const COMMAND = 'sh -c "echo lantern"';
const CODEX_PATH = `env = { CODEX_PATH = ${JSON.stringify(agentProgram("codex") ?? "codex")} }`;

const AGENTS = [
  { agent: "claude", model: "Claude's default", setting: "", trustsWorkspace: false },
  { agent: "codex", model: "Codex", setting: "", trustsWorkspace: false },
  // It does not ask about everything, so what the TUI wants read only stays so.
  { agent: "codex-acp", model: "Codex (ACP) (codex-acp)", setting: CODEX_PATH, trustsWorkspace: true },
] as const;

for (const { agent, model, setting, trustsWorkspace } of AGENTS) {
  needsTui(agent)(
    `the stock Codex TUI drives ${agent} behind Flint: text and an approval [S0-1]`,
    async () => {
      const command = `command = ${JSON.stringify([agentProgram(agent) ?? agent])}`;
      const configuration = `[agents.${agent}]\n${command}\n${setting}\n`;
      const options = ["--agent", agent, "--offline"];
      const fixture = await TuiFixture.make(options, configuration, { trustsWorkspace });
      const tui = await fixture.tui();
      await tui.isReady(model);
      await tui.ask("hello");
      await tui.shows("I am Flint's offline model");
      await tui.isDone();
      await tui.ask(`run \`${COMMAND}\``);
      await tui.answer(`$ ${COMMAND}`, "y");
      await tui.shows("└ lantern");
      await tui.isDone();
      await tui.ask("run `touch made.txt`");
      await tui.answer("$ touch made.txt", "y");
      await tui.isDone();
      const screen = await tui.terminal.everything();
      expect(existsSync(join(fixture.workspace, "made.txt")), screen).toBe(true);
      // codex-acp warns that its Codex does not know the offline model, and the TUI shows warnings of agents.
      const warnings = agent === "codex-acp" ? ["⚠ 1 warning · f2 to view"] : [];
      expect(await tui.troubles()).toEqual(warnings);
      await tui.quit();
    },
    TEST_MS,
  );
}
