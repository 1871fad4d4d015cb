import type { Budget } from "@flint/protocol";
import { budget as budgetWords } from "@flint/view";
import type { SessionContext } from "../../context.ts";

/** The limits that can be set, as they are typed, and their fields. */
const TURN = { cost: "costUsd", tokens: "tokens", time: "seconds", steps: "steps" } as const;
const THREAD = { cost: "costUsd", tokens: "tokens", time: "seconds", turns: "turns" } as const;

const UNITS: Readonly<Record<string, string>> = { cost: "USD", time: "seconds", steps: "model calls" };

/** `/budget turn cost 2`: limits what each turn or the whole thread may use; `none` removes a limit, or all. */
export function setBudget(session: SessionContext, given: string): void {
  const words = given.split(/\s+/).filter((word) => word !== "");
  const [scope = "", name = "", amount] = words;
  const current = session.settings?.budget ?? {};
  if (words.length === 0) chooseLimit(session, current);
  else if (given === "none") change(session, { turn: {}, thread: {} });
  else if (fieldOf(scope, name) === undefined || words.length > 3) session.say(USAGE);
  else if (amount === undefined) askAmount(session, scope, name);
  else {
    const changes = changesOf(current, scope, name, amount);
    if (changes === undefined) session.say(USAGE);
    else change(session, changes);
  }
}

/** The part of the budget that changes; undefined if the amount is none. */
function changesOf(current: Budget, scope: string, name: string, amount: string): Budget | undefined {
  const part = scope === "turn" ? "turn" : "thread";
  const { [fieldOf(scope, name) ?? ""]: _before, ...others }: Readonly<Record<string, unknown>> =
    current[part] ?? {};
  if (amount === "none") return { [part]: others };
  const number = Number(amount.replace(/^\$/, ""));
  return number > 0 ? { [part]: { ...others, [fieldOf(scope, name) ?? ""]: number } } : undefined;
}

const USAGE =
  "Type /budget turn cost 2, /budget thread turns 20, or none in place of a number; /budget lists all.";

function fieldOf(scope: string, name: string): string | undefined {
  const fields: Readonly<Record<string, string>> = scope === "turn" ? TURN : scope === "thread" ? THREAD : {};
  return Object.hasOwn(fields, name) ? fields[name] : undefined;
}

/** The number is typed after the name of the limit. */
function askAmount(session: SessionContext, scope: string, name: string): void {
  session.composer.setText(`/budget ${scope} ${name} `);
  const unit = UNITS[name];
  session.say(`How much${unit === undefined ? "" : `, in ${unit}`}? none removes the limit.`);
}

function chooseLimit(session: SessionContext, current: Budget): void {
  const rows = [
    ...Object.entries(TURN).map(([name, field]) => row("turn", name, current.turn?.[field])),
    ...Object.entries(THREAD).map(([name, field]) => row("thread", name, current.thread?.[field])),
  ];
  session.openMenu({
    title: `Budget: ${budgetWords(current) || "no limits"}`,
    items: [
      ...rows.map(({ scope, name, detail }) => ({
        label: `${scope} ${name}`,
        detail,
        choose: () => askAmount(session, scope, name),
      })),
      { label: "none", detail: "removes all limits", choose: () => setBudget(session, "none") },
    ],
  });
}

function row(scope: "turn" | "thread", name: string, amount: number | undefined) {
  const unit = UNITS[name] === undefined ? "" : ` ${UNITS[name]}`;
  return { scope, name, detail: amount === undefined ? "no limit" : `${amount}${unit}` };
}

/** Of a thread, only the part that changes is sent: a new part takes back how far it was extended. */
function change(session: SessionContext, changes: Budget): void {
  session.run(async () => {
    const kept = session.state === undefined ? (session.settings?.budget ?? {}) : {};
    await session.thread.change({ budget: { ...kept, ...changes } });
    const now = budgetWords(session.settings?.budget ?? {});
    session.say(now === "" ? "Budget: no limits." : `Budget: ${now}, from the next turn on.`);
  });
}
