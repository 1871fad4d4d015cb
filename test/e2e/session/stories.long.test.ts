import { existsSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { connect } from "@flint/sdk";
import { agentProgram, needs } from "@flint/testkit";
import { expect } from "vitest";
import { needsTui, TuiFixture } from "../codex/tui.ts";
import { SCRIPTED_AGENTS, type ScriptedAgent } from "../scripted-agents.ts";
import { answer, quit, sees } from "../terminal/session-fixture.ts";
import type { Terminal } from "../terminal/tmux.ts";

/** Real agents are started, on a machine that may be busy. */
const TEST_MS = 180_000;
const COMPOSER = "Ask for something";

/** The real agents, all with the offline model behind them. */
const CONFIGURATION = (["claude", "codex"] as const)
  .map((agent) => `[agents.${agent}]\ncommand = ${JSON.stringify([agentProgram(agent) ?? agent])}\n`)
  .join("");

/** Returns the script of an agent's model in the story. */
function scriptFor({ run }: ScriptedAgent): readonly unknown[] {
  return [
    { when: "begin", parts: run("until test -e go; do sleep 0.1; done") },
    { when: "lantern", parts: [{ text: "The lantern is lit." }] },
    { when: "resumeHint", parts: [{ text: "Goodbye then." }] },
    { when: "share", parts: run("touch shared.txt") },
    { when: "share", parts: [{ text: "It is shared." }] },
    { when: "again", parts: [{ text: "Here I am again." }] },
  ];
}

for (const scripted of SCRIPTED_AGENTS) {
  const needed = ["tmux", ...(scripted.program === undefined ? [] : [scripted.program])] as const;
  needs(...needed)(
    `a session with ${scripted.agent}: steer, queue, an answer from another client, and resume`,
    () => story(scripted),
    TEST_MS,
  );
}

async function story(scripted: ScriptedAgent): Promise<void> {
  const fixture = await TuiFixture.make(["--offline"], CONFIGURATION, { script: scriptFor(scripted) });
  const terminal = await fixture.session("--agent", scripted.agent);
  await terminal.until(sees(COMPOSER), "the composer");
  await terminal.type("begin");
  await terminal.press("Enter");
  await terminal.until(sees("[y] once"), "the approval");
  await answer(terminal, "y", "allowed once");
  await terminal.until(sees("Enter steers, Tab queues"), "the running command");
  await terminal.type("say resumeHint");
  await terminal.press("Tab");
  await terminal.until(sees("queued: say resumeHint"), "what is queued");
  // After the queue: Codex may not answer this before its command has ended, and requests of a thread run one by one.
  await terminal.type("light the lantern");
  await terminal.press("Enter");
  await terminal.until(sees("› light the lantern"), "what steers the turn");
  await writeFile(join(fixture.workspace, "go"), "");
  await terminal.until(sees("The lantern is lit."), "the answer to what steered");
  await terminal.until(sees("Goodbye then."), "the answer to what was queued");
  await terminal.until((all) => !all.includes("queued: say resumeHint"), "an empty queue");

  await terminal.type("share it");
  await terminal.press("Enter");
  await terminal.until((all) => all.lastIndexOf("[y] once") > all.indexOf("› share it"), "the approval");
  await allowedElsewhere(fixture.home);
  await terminal.until(sees("(answered in "), "who answered");
  await terminal.until(sees("It is shared."), "the end of the turn");
  expect(existsSync(join(fixture.workspace, "shared.txt"))).toBe(true);
  await quit(terminal);

  const resumed = await fixture.session("resume", "--last");
  await resumed.until(sees("It is shared."), "the resumed thread");
  await resumed.type("again");
  await resumed.press("Enter");
  await resumed.until(sees("Here I am again."), "the next turn of the thread");
  await quit(resumed);
}

/** Another client allows what waits in the only thread. */
async function allowedElsewhere(home: string): Promise<void> {
  const clientInfo = { name: "other", title: "Another desk", version: "1.0.0" };
  const other = await connect({ home, clientInfo, onApproval: () => "accept" });
  const { data } = await other.listThreads();
  const handle = await other.attachThread(data[0]?.id ?? "");
  await handle.unsubscribe().catch(() => undefined);
  await other.close();
}

needs("tmux", "claude", "codex")(
  "Claude, Codex and Flint's own agent continue one thread in turn, and each boundary is drawn",
  async () => {
    // A new agent gets what was said before as well, so the model does not see the prompt alone.
    const script = ["oak", "ash", "elm", "fir"].map((tree) => ({
      when: tree,
      parts: [{ text: `Here is the ${tree} tree.` }],
    }));
    const fixture = await TuiFixture.make(["--offline"], CONFIGURATION, { script });
    const terminal = await fixture.session("--agent", "claude", "show me an oak");
    await terminal.until(sees("Here is the oak tree."), "the answer of Claude");
    await handedTo(terminal, "codex", "claude", "ash");
    await handedTo(terminal, "claude", "codex", "elm");
    await handedTo(terminal, "flint", "claude", "fir");
    await quit(terminal);
  },
  TEST_MS,
);

/** Switches to another agent, which answers the next prompt. */
async function handedTo(terminal: Terminal, agent: string, before: string, tree: string): Promise<void> {
  await terminal.until(sees(COMPOSER), "the end of the turn", "screen");
  await terminal.type(`/agent ${agent}`);
  await terminal.press("Enter");
  await terminal.until(sees(`${agent} continues from the next turn on`), "the switch");
  await terminal.type(`now the ${tree}`);
  await terminal.press("Enter");
  await terminal.until(sees(`${agent} continues in place of ${before}`), "the boundary");
  await terminal.until(sees(`Here is the ${tree} tree.`), `the answer of ${agent}`);
}

needsTui("codex")(
  "what the stock Codex TUI does in the thread of a session is seen in it with its name, and the other way round",
  async () => {
    const fixture = await TuiFixture.make(["--offline"], CONFIGURATION);
    const terminal = await fixture.session("count to 3");
    await terminal.until(sees("1 2 3."), "the first answer");
    const tui = await fixture.tui("resume", "--last");
    await tui.isReady("Flint offline model");
    await tui.shows("1 2 3.");

    await tui.ask("run `touch there.txt`");
    await terminal.until(
      (all) => /› run `touch there\.txt` {2}from .*codex/i.test(all),
      "the prompt and where it came from",
    );
    await terminal.until(sees("[y] once"), "the approval");
    await answer(terminal, "y", "allowed once");
    await tui.isDone();
    expect(existsSync(join(fixture.workspace, "there.txt"))).toBe(true);

    await terminal.until(sees(COMPOSER), "the end of the turn", "screen");
    await terminal.type("run `touch here.txt`");
    await terminal.press("Enter");
    await terminal.until(sees("› run `touch here.txt`"), "the prompt");
    await tui.answer("touch here.txt", "y");
    await terminal.until((all) => /answered in .*codex/i.test(all), "who answered");
    await terminal.until(sees(COMPOSER), "the end of the turn", "screen");
    expect(existsSync(join(fixture.workspace, "here.txt"))).toBe(true);
    expect(await tui.troubles()).toEqual([]);
    await tui.quit();
    await quit(terminal);
  },
  TEST_MS,
);
