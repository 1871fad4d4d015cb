import { needs } from "@flint/testkit";
import { onTestFinished } from "vitest";
import { choosing, SCRIPTED_AGENTS } from "./scripted-agents.ts";
import { place, quit, sees, stopServer } from "./terminal/session-fixture.ts";

needs("tmux", "claude")(
  "the slash commands of Claude are completed, also after the thread was resumed",
  async () => {
    const claude = SCRIPTED_AGENTS.find(({ agent }) => agent === "claude");
    if (claude === undefined) throw new Error("Claude is among the scripted agents.");
    const { options, configuration } = choosing(claude);
    const { state, open } = await place(configuration);
    onTestFinished(() => stopServer(state));
    const terminal = await open([...options, "what is in this folder?"]);
    await terminal.until(sees("› what is in this folder?"), "the prompt");
    await terminal.until(sees("Ask for something"), "the end of the turn");
    await terminal.type("/security-rev");
    await terminal.until(sees("▸ security-review"), "the command of Claude");
    await terminal.press("C-c", "C-c");
    await quit(terminal);

    const resumed = await open(["resume", "--last"]);
    await resumed.until(sees("Ask for something"), "the resumed thread");
    await resumed.type("/security-rev");
    await resumed.until(sees("▸ security-review"), "the command of Claude, after the resume");
    await resumed.press("C-c", "C-c");
    await quit(resumed);
  },
  120_000,
);
