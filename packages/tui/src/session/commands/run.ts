import type { Turn } from "@flint/protocol";
import { type CommandId, commandOf, isTypedOut, reasonUnavailable } from "@flint/view/commands";
import { approvalPage } from "../../pages/approval-page.ts";
import { compareCommand } from "../../pages/compare/compare-command.ts";
import { diffPage } from "../../pages/diff-page.ts";
import { helpPage } from "../../pages/help-page.ts";
import { InboxPage } from "../../pages/inbox-page.ts";
import { TasksPage } from "../../pages/tasks/tasks-page.ts";
import { ThreadList } from "../../pages/threads/thread-list.ts";
import { transcriptPage } from "../../pages/transcript-page.ts";
import type { Session } from "../session.ts";
import { turnNumbered } from "../thread/all-turns.ts";
import * as agent from "./agent-commands.ts";
import { listBackground, stopBackground } from "./background-commands.ts";
import { commandContext } from "./command-context.ts";
import { copyFromThread } from "./copy.ts";
import { agentsCommand } from "./machine/agents.ts";
import { changeConfig } from "./machine/config.ts";
import { typeOut } from "./prompt-tools.ts";
import { editQueue } from "./queue-menu.ts";
import { rewindThread, undoRewind } from "./rewind.ts";
import { addTask } from "./server/add-task.ts";
import { setBudget } from "./server/budget.ts";
import { importSession } from "./server/import.ts";
import { login, logout } from "./server/login.ts";
import { listRules } from "./server/rules.ts";
import { reviewTrust } from "./server/trust.ts";
import * as show from "./show-commands.ts";
import { changeStatusLine } from "./status-line.ts";
import * as threads from "./thread-commands.ts";

/** Runs a command with its argument, which may be empty. */
type Run = (session: Session, argument: string) => void;

const RUNS: Partial<Readonly<Record<CommandId, Run>>> = {
  newThread: (session, prompt) => {
    session.run(async () => {
      await session.thread.startNew();
      if (prompt === "") session.say("Your next prompt starts a new thread.");
      else session.inputs.sendText(prompt, "steer");
    });
  },
  listThreads: (session) => session.openPage(new ThreadList(session)),
  resumeThread: (session, requested) => {
    if (requested === "") session.openPage(new ThreadList(session));
    else threads.resumeThread(session, requested);
  },
  nextThread: (session) => threads.switchThread(session, session.others.next(), "No other thread needs you."),
  previousThread: (session) =>
    threads.switchThread(session, session.others.before, "No thread was open before."),
  forkThread: threads.forkThread,
  rewindThread,
  undoRewind,
  renameThread: threads.renameThread,
  exportThread: threads.exportCommand,
  chooseAgent: agent.chooseAgent,
  chooseModel: agent.chooseModel,
  choosePermissions: agent.choosePermissions,
  openControls: agent.settingsCommand,
  planOnly: agent.planOnly,
  setGoal: agent.setGoal,
  startReview: threads.startReview,
  compactContext: threads.compactContext,
  editQueue: (session) => editQueue(session),
  listBackground: (session) => listBackground(session),
  stopBackground,
  showDiff: (session, requested) => session.run(() => showDiff(session, requested)),
  askView: (session) => {
    const { approval } = session.asks;
    if (approval === undefined) return;
    const page = approvalPage(approval, session.settings?.cwd ?? "/");
    session.asks.shownOn(page);
    session.openPage(page);
  },
  showTranscript: (session) => session.openPage(transcriptPage(session)),
  showInbox: (session) => session.openPage(new InboxPage(session)),
  showTasks: (session, task) => session.openPage(new TasksPage(session, task)),
  compareAgents: compareCommand,
  listRules,
  reviewTrust,
  importSession,
  addTask,
  setBudget,
  login: (session) => login(session),
  logout: (session) => logout(session),
  showUsage: show.showUsage,
  showLimits: show.showLimits,
  showStatus: show.showStatus,
  showMcp: show.showMcp,
  openImage: show.openImage,
  copyAnswer: copyFromThread,
  runDoctor: show.runDoctor,
  chooseTheme: show.chooseTheme,
  changeStatusLine,
  changeConfig,
  manageAgents: agentsCommand,
  openPalette: (session) =>
    show.openPalette(session, (id) => (isTypedOut(id) ? typeOut(session, id) : runCommand(session, id, ""))),
  showKeys: (session) => session.openPage(helpPage(session.keymap)),
  showHelp: (session) => session.openPage(helpPage(session.keymap)),
  interruptTurn: (session) => session.thread.interrupt(),
  interruptOrClose: (session) => session.thread.interrupt(),
  redraw: (session) => session.terminal.redraw(),
  suspend: (session) => session.terminal.suspend(),
  quit: (session) => session.quit(),
};

async function showDiff(session: Session, requested: string): Promise<void> {
  const turn = await turnNamed(session, requested);
  session.openPage(diffPage(session, turn?.id));
}

async function turnNamed({ turns }: Session, requested: string): Promise<Turn | undefined> {
  if (requested === "") return undefined;
  return requested === "last" ? turns.known.at(-1) : turnNumbered(await turns.read(), requested);
}

/** Carries out a command. False if it is not one of the session. */
export function runCommand(session: Session, id: CommandId, argument: string): boolean {
  const run = RUNS[id];
  if (run === undefined) return false;
  const reason = reasonNotNow(session, id);
  if (reason === undefined) run(session, argument);
  else session.say(`Not now: ${reason}.`);
  return true;
}

/** Returns the reason a command cannot be carried out now; undefined if it can. */
export function reasonNotNow(session: Session, id: CommandId): string | undefined {
  const command = commandOf(id);
  const isCut = command.needsServer === true && !session.isConnected;
  return isCut ? "the server cannot be reached" : reasonUnavailable(command, commandContext(session));
}
