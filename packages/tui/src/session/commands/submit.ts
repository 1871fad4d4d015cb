import { type CommandId, readCommand, usageOf } from "@flint/view/commands";
import type { Session } from "../session.ts";
import { reasonNotNow, runCommand } from "./run.ts";

/** Sends what is in the composer: a command, a shell command after `!`, or a prompt. */
export function submit(session: Session, delivery: "steer" | "queue"): void {
  const { composer } = session;
  const text = composer.text.trim();
  if (text === "") return;
  const typed = readCommand(text);
  if (typed?.type === "incomplete") session.say(`Usage: ${usageOf(typed.id) ?? ""}`);
  else if (typed?.type === "command" && !needsServer(session, typed.id)) {
    const reason = reasonNotNow(session, typed.id);
    // What was written is not lost.
    if (reason !== undefined && typed.argument !== "") {
      session.say(`Not now: ${reason}.`);
      return;
    }
    composer.clear();
    if (!runCommand(session, typed.id, typed.argument)) session.say(`/${text.slice(1)} cannot be used here.`);
  } else if (session.link === "failed") session.say("The server cannot be reached. Your prompt is kept.");
  else if (session.link !== "open") session.inputs.sendLater(delivery);
  else {
    const { input, content } = composer;
    session.help.sent(composer.text);
    composer.clear();
    const isShell = text.startsWith("!") && text.length > 1;
    session.submitOrRestore(content, () =>
      isShell ? runShell(session, text.slice(1).trim()) : session.sendInput(input, delivery),
    );
  }
}

/** What makes sense before anything is known of the server and the thread. */
const AT_ONCE: readonly CommandId[] = ["showHelp", "showKeys", "chooseTheme", "quit"];

/** Whether a command has to wait for the server, or until the thread is open. */
function needsServer(session: Session, id: CommandId): boolean {
  if (session.link === "open") return false;
  return session.link === "connecting" ? !AT_ONCE.includes(id) : reasonNotNow(session, id) !== undefined;
}

/** Runs a command of the user in the thread, confined like the agent's. */
async function runShell(session: Session, command: string): Promise<void> {
  const threadId = await session.ensureThread();
  await session.client.call("thread/shellCommand", { threadId, command });
}
