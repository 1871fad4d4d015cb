import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect } from "vitest";
import { choosing, DONE, SCRIPTED_AGENTS } from "../scripted-agents.ts";
import { needsTui, TuiFixture } from "./tui.ts";

/** Several programs are started one after the other, on a machine that may be busy. */
const TEST_MS = 150_000;

/** Both can only succeed outside of the sandbox. */
const ALLOWED = "echo run >> ../count; echo lantern";
const DECLINED = "touch ../declined";
const WHY = "It is outside.";

for (const scripted of SCRIPTED_AGENTS) {
  const { agent, model, leave } = scripted;
  needsTui(scripted.program ?? "codex")(
    `the stock Codex TUI asks before a command of ${agent} leaves the sandbox, and shows a declined one as declined`,
    async () => {
      const { options, configuration } = choosing(scripted);
      const script = [
        { when: "first", parts: leave(ALLOWED, WHY) },
        DONE,
        { when: "second", parts: leave(DECLINED, WHY) },
        DONE,
      ];
      const fixture = await TuiFixture.make(options, configuration, { script });
      const folder = join(fixture.workspace, "..");
      const tui = await fixture.tui();
      await tui.isReady(model);
      await tui.ask("first");
      await tui.shows(WHY);
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
