import { escapeControls } from "@flint/view";
import { keyIn } from "../../pages/key-name.ts";
import type { SessionContext } from "../context.ts";

const NOTHING_RUNS = "No background commands are running.";

/** Shows the commands that the agent left running; choosing one stops it. */
export function listBackground(session: SessionContext): void {
  session.run(async () => {
    const threadId = session.state?.thread.id;
    if (threadId === undefined) return session.say(NOTHING_RUNS);
    const { data } = await session.client.call("thread/backgroundCommands/list", { threadId });
    if (data.length === 0) return session.say(NOTHING_RUNS);
    session.openMenu({
      title: `Background commands (${keyIn(session.look, "menuAccept")} stops one)`,
      items: data.map(({ processId, command }) => ({
        label: escapeControls(`${processId}: ${command}`),
        choose: () => stopBackground(session, processId),
      })),
    });
  });
}

/** Stops a background command, or all of them if none is named. */
export function stopBackground(session: SessionContext, named: string): void {
  const processId = named === "all" ? "" : named;
  session.run(async () => {
    const threadId = session.state?.thread.id;
    if (threadId === undefined) return session.say(NOTHING_RUNS);
    const chosen = processId === "" ? {} : { processId };
    const { stopped } = await session.client.call("thread/backgroundCommands/stop", { threadId, ...chosen });
    const isUnknown = stopped.length === 0 && processId !== "";
    const none = isUnknown ? `No background command ${processId} is running. /ps lists them.` : NOTHING_RUNS;
    session.say(stopped.length === 0 ? none : `Stopped ${stopped.join(", ")}.`);
  });
}
