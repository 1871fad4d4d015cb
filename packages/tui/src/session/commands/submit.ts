import { escapeControls } from "@flint/view";
import { COMMAND_IDS, type CommandId, commandOf, nearest, readCommand, usageOf } from "@flint/view/commands";
import { commandsOfAgent } from "../../input/index.ts";
import type { Session } from "../session.ts";
import { reasonNotNow, runCommand } from "./run.ts";

/** Sends what is in the composer: a command, a shell command after `!`, or a prompt. */
export function submit(session: Session, delivery: "steer" | "queue"): void {
  const { composer } = session;
  const text = composer.text.trim();
  if (session.link === "failed") session.connect();
  if (text === "") return;
  const typed = readCommand(text);
  if (typed?.type === "incomplete") session.say(`Usage: ${usageOf(typed.id) ?? ""}`);
  else if (typed?.type === "command" && !needsServer(session, typed.id)) {
    const reason = reasonNotNow(session, typed.id);
    // The written text is not lost.
    if (reason !== undefined && typed.argument !== "") {
      session.say(`Not now: ${reason}.`);
      return;
    }
    composer.clear();
    if (!runCommand(session, typed.id, typed.argument)) session.say(`/${text.slice(1)} cannot be used here.`);
  } else if (
    typed?.type === "unknown" &&
    isNoCommand(session, typed.name) &&
    session.inputs.holdsBack(text)
  ) {
    const meant = nearest(typed.name, namesIn(session));
    const hint = meant === undefined ? "" : ` Did you mean /${escapeControls(meant)}?`;
    session.say(`There is no command /${typed.name}.${hint} Press Enter again to send it.`);
  } else if (session.link !== "open") session.inputs.sendLater(delivery);
  else {
    const { input, content } = composer;
    session.help.sent(composer.text);
    composer.clear();
    const isShell = text.startsWith("!") && text.length > 1;
    session.inputs.submit(content, () =>
      isShell ? runShell(session, text.slice(1).trim()) : session.inputs.send(input, delivery),
    );
  }
}

/** Every command that can be typed: Flint's own, and those that the agent has reported. */
function namesIn({ state }: Session): string[] {
  const own = COMMAND_IDS.flatMap((id) => commandOf(id).slash ?? []);
  return [...own, ...commandsOfAgent(state).map(({ name }) => name)];
}

/**
 * Reports whether a slash command is a mistake: the agent has listed its commands, or an existing one is
 * spelled almost like it.
 */
function isNoCommand(session: Session, name: string): boolean {
  const known = namesIn(session);
  if (known.includes(name)) return false;
  return commandsOfAgent(session.state).length > 0 || nearest(name, known) !== undefined;
}

/** Commands that make sense before anything is known of the server and the thread. */
const AT_ONCE: readonly CommandId[] = ["showHelp", "showKeys", "chooseTheme", "quit"];

/** Reports whether a command has to wait for the server, or until the thread is open. */
function needsServer(session: Session, id: CommandId): boolean {
  if (session.link === "open") return false;
  return session.link === "connecting" ? !AT_ONCE.includes(id) : reasonNotNow(session, id) !== undefined;
}

/** Runs a command of the user in the thread, confined like the agent's. */
async function runShell(session: Session, command: string): Promise<void> {
  const threadId = await session.thread.ensure();
  await session.client.call("thread/shellCommand", { threadId, command });
}
