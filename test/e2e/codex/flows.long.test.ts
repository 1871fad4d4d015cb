import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect } from "vitest";
import {
  commitAs,
  connectTo,
  DECLINED_COMMAND,
  FILES,
  FLOWS,
  flowScript,
  localServer,
  ON_REQUEST,
  OUTSIDE,
  TITLES,
  titlesIn,
} from "../permission-flows.ts";
import { choosing, SCRIPTED_AGENTS } from "../scripted-agents.ts";
import { needsTui, TuiFixture } from "./tui.ts";

/** Several programs are started one after the other, on a machine that may be busy. */
const TEST_MS = 150_000;

for (const scripted of SCRIPTED_AGENTS) {
  const { agent, model, program } = scripted;
  needsTui(program ?? "codex")(
    `the stock Codex TUI asks about commands of ${agent} that leave the sandbox, about hosts, commits and files`,
    async () => {
      const { port, paths } = await localServer();
      const { options, configuration } = choosing(scripted);
      const fixture = await TuiFixture.make(options, configuration, { script: flowScript(scripted, port) });
      const tui = await fixture.tui();
      await tui.isReady(model);

      const network = /approve network access to "localhost"[\s\S]*localhost \(port \d+\)/;
      await tui.ask(FLOWS.allowedHost);
      await tui.answer(`$ ${connectTo(port, "allowed")}`, "y");
      await tui.answer(network, "y");
      await tui.shows("└ lantern");
      await tui.isDone();
      await tui.ask(FLOWS.declinedHost);
      await tui.answer(`$ ${connectTo(port, "declined")}`, "y");
      await tui.answer(network, "d");
      await tui.shows(`Flint refused the connection to localhost:${port}: it was declined.`);
      await tui.isDone();
      expect(paths).toEqual(["/allowed"]);

      await tui.ask(FLOWS.declinedCommand);
      await tui.answer(`$ ${DECLINED_COMMAND}`, "d");
      await tui.isDone();
      const declined = await tui.terminal.everything();
      expect(existsSync(join(fixture.workspace, "declined-command")), declined).toBe(false);
      expect(declined).toMatch(/Ran touch declined-command\n +└ Declined\. It did not run\./);

      const commits = (title: string) => new RegExp(`Apply 1 commit on \\S+ \\(${title}\\)\\?`);
      await tui.ask(FLOWS.allowedCommit);
      await tui.answer(`$ ${commitAs(TITLES.allowed)}`, "y");
      await tui.answer(commits(TITLES.allowed), "Enter");
      await tui.isDone();
      expect(await titlesIn(fixture.workspace)).toEqual({ branch: `${TITLES.allowed}\nfirst\n`, kept: "" });
      await tui.ask(FLOWS.declinedCommit);
      await tui.answer(`$ ${commitAs(TITLES.declined)}`, "y");
      await tui.answer(commits(TITLES.declined), "Escape");
      await tui.shows(/Failed git\n +└ Declined\.\n +To apply them later:\n +git merge refs\/flint\/in\//);
      await tui.isDone();
      expect(await titlesIn(fixture.workspace)).toMatchObject({
        branch: `${TITLES.allowed}\nfirst\n`,
        kept: expect.stringMatching(new RegExp(`^${TITLES.declined}\n`)),
      });

      const folder = join(fixture.workspace, "..");
      await tui.ask(FLOWS.allowedLeave);
      await tui.shows(OUTSIDE.why);
      await tui.answer(`$ ${OUTSIDE.allowed}`, "y");
      await tui.shows("└ lantern");
      await tui.isDone();
      expect(await readFile(join(folder, "count"), "utf8")).toBe("run\n");
      await tui.ask(FLOWS.declinedLeave);
      await tui.answer(`$ ${OUTSIDE.declined}`, "d");
      await tui.isDone();
      const screen = await tui.terminal.everything();
      expect(existsSync(join(folder, "declined")), screen).toBe(false);
      expect(screen).toMatch(/Ran touch \.\.\/declined\n +└ Declined\. It did not run\./);
      expect(screen).not.toContain("flint-run");

      await tui.ask(FLOWS.allowedChange);
      await tui.answer(FILES.allowed, "y");
      await tui.isDone();
      expect(await readFile(join(fixture.workspace, FILES.allowed), "utf8")).toBe("lantern\n");
      await tui.ask(FLOWS.declinedChange);
      // Of changes to files it offers no answer that declines them and lets the turn continue.
      await tui.answer(FILES.declined, "Escape");
      await tui.shows("Conversation interrupted");
      expect(existsSync(join(fixture.workspace, FILES.declined))).toBe(false);
      await tui.quit();
    },
    TEST_MS,
  );

  needsTui(program ?? "codex")(
    `the stock Codex TUI with on-request asks only about what ${agent} does beyond the sandbox`,
    async () => {
      const { port } = await localServer();
      const { options, configuration } = choosing(scripted);
      const script = flowScript(scripted, port, ON_REQUEST);
      const policy = ["--approval", "on-request"];
      const fixture = await TuiFixture.make([...options, ...policy], configuration, { script });
      const tui = await fixture.tui();
      await tui.isReady(model);
      await tui.ask(FLOWS.declinedCommand);
      await tui.isDone();
      expect(existsSync(join(fixture.workspace, "declined-command"))).toBe(true);
      await tui.ask(FLOWS.declinedLeave);
      await tui.answer(`$ ${OUTSIDE.declined}`, "d");
      await tui.isDone();
      expect(existsSync(join(fixture.workspace, "../declined"))).toBe(false);
      await tui.ask(FLOWS.allowedChange);
      await tui.isDone();
      expect(await readFile(join(fixture.workspace, FILES.allowed), "utf8")).toBe("lantern\n");
      await tui.quit();
    },
    TEST_MS,
  );
}
