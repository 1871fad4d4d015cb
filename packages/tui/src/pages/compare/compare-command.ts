import { agentOfModel } from "@flint/protocol";
import { count, escapeControls } from "@flint/view";
import type { SessionContext } from "../../session/context.ts";
import { keyIn } from "../key-name.ts";
import { errorText } from "../tasks/task-feed.ts";
import { ComparePage } from "./compare-page.ts";
import { areComparable, type Comparison, namesIn, startComparison } from "./comparison.ts";

/** The file that notes the tasks of the last comparison, to show it again. */
const NOTE = "comparison";

/** `/compare`: gives a prompt to several agents and shows what they make of it; without one, shows the last comparison. */
export function compareCommand(session: SessionContext, given: string): void {
  const requested = readComparison(given);
  if (given === "") openLast(session);
  else if (requested.prompt === "") session.say("What should the agents do? /compare PROMPT");
  else if (areComparable(requested.agents)) start(session, requested);
  else if (requested.agents.length > 0)
    session.say("--agents needs at least two different agents, such as --agents claude,codex.");
  else chooseAgents(session, requested);
}

/** Reads `PROMPT --agents a,b --check COMMAND`. What is not one of these options belongs to the prompt. */
export function readComparison(given: string): Omit<Comparison, "cwd"> {
  const [prompt = "", ...rest] = given.split(/(?:^|\s+)--(agents|check)[\s=]+/);
  const options = rest.flatMap((name, at) => (at % 2 === 0 ? [[name, rest[at + 1] ?? ""] as const] : []));
  const valuesOf = (requested: string) =>
    options.flatMap(([name, value]) => (name === requested ? [value] : []));
  return {
    prompt: prompt.trim(),
    agents: valuesOf("agents").flatMap(namesIn),
    checks: valuesOf("check").flatMap((command) => withoutQuotes(command.trim()) || []),
  };
}

function withoutQuotes(text: string): string {
  return /^(["'])(?<inner>.*)\1$/s.exec(text)?.groups?.inner ?? text;
}

function openLast(session: SessionContext): void {
  const ids = (session.machine.readNote(NOTE) ?? "").split("\n").filter((id) => id !== "");
  if (ids.length === 0) session.say("No comparison yet. /compare PROMPT starts one.");
  else session.openPage(new ComparePage(session, ids));
}

function start(session: SessionContext, requested: Omit<Comparison, "cwd">): void {
  const cwd = session.settings?.cwd ?? session.machine.cwd;
  attempt(session, requested, async () => {
    const tasks = await startComparison(session.client, { ...requested, cwd });
    const ids = tasks.map(({ id }) => id);
    session.machine.writeNote(NOTE, ids.join("\n"));
    session.openPage(new ComparePage(session, ids));
  });
}

/** Runs a command on typed text, which is not lost if it fails. */
function attempt(
  session: SessionContext,
  { prompt, agents, checks }: Omit<Comparison, "cwd">,
  work: () => Promise<void>,
): void {
  session.run(async () => {
    // Expected: a server without tasks, one that does not know an agent, or none.
    try {
      await work();
    } catch (thrown) {
      session.warn(errorText(thrown));
      const named = agents.length === 0 ? [] : [`--agents ${agents.join(",")}`];
      const typed = ["/compare", prompt, ...named, ...checks.map((check) => `--check ${check}`)];
      if (session.composer.text === "") session.composer.setText(typed.join(" "));
    }
  });
}

/** Lets the user choose among the agents of the server; all of them are chosen at first. */
function chooseAgents(session: SessionContext, requested: Omit<Comparison, "cwd">): void {
  attempt(session, requested, async () => {
    const models = await session.client.models();
    const agents = [...new Set(models.map(({ id }) => agentOfModel(id)))];
    if (agents.length >= 2) openMenu(session, requested, agents, new Set(agents));
    else
      session.say(
        `Only ${escapeControls(agents[0] ?? "one agent")} is available. Compare models with --agents NAME,NAME.`,
      );
  });
}

function openMenu(
  session: SessionContext,
  requested: Omit<Comparison, "cwd">,
  agents: readonly string[],
  chosen: ReadonlySet<string>,
  selected = 0,
): void {
  const names = agents.filter((agent) => chosen.has(agent));
  const again = (next: ReadonlySet<string>, row: number) => openMenu(session, requested, agents, next, row);
  const begin = {
    label: "Start",
    detail: names.length < 2 ? "choose at least two agents" : escapeControls(names.join(", ")),
    choose: () => (names.length < 2 ? again(chosen, 0) : start(session, { ...requested, agents: names })),
  };
  const items = agents.map((agent, at) => ({
    label: escapeControls(agent),
    isCurrent: chosen.has(agent),
    choose: () => again(toggled(chosen, agent), at + 1),
  }));
  const title = `Compare ${count(names.length, "agent")}: ${keyIn(session.look, "menuAccept")} adds or removes one, or starts`;
  session.openMenu({ title, items: [begin, ...items] }, selected);
}

function toggled(chosen: ReadonlySet<string>, agent: string): ReadonlySet<string> {
  return new Set(chosen.has(agent) ? [...chosen].filter((each) => each !== agent) : [...chosen, agent]);
}
