import { agentOfModel, type Model } from "@flint/protocol";
import { ageOf } from "@flint/view";
import { STATUS_PART_NAMES, STATUS_PARTS } from "@flint/view/commands";
import type { ArgumentChoices, NameChoice } from "../../input/index.ts";
import type { SessionContext } from "../context.ts";
import { readControls } from "./agent-commands.ts";
import { UNSET } from "./machine/config.ts";

/** More threads than this are not offered; the list of threads has all. */
const MAX_THREADS = 200;

/** The possible arguments of commands: known here, or read from the server when a list is first needed. */
export class ArgumentNames {
  models: readonly Model[] = [];
  readonly choices: ArgumentChoices;

  readonly #read: ReadNames[] = [];

  /** `arrived` is called when a list is complete that was read. */
  constructor(session: SessionContext, arrived: () => void) {
    const read = (names: (session: SessionContext) => Promise<readonly NameChoice[]>) => {
      const list = new ReadNames(() => names(session), arrived);
      this.#read.push(list);
      return () => list.names;
    };
    this.choices = {
      model: () => this.models.map(({ id, displayName }) => ({ name: id, detail: displayName })),
      agent: () => [...new Set(this.models.map(({ id }) => agentOfModel(id)))].map((name) => ({ name })),
      permissions: () => session.permissions.map(({ name, doc }) => ({ name, detail: doc })),
      turn: read(turnNumbers),
      statusParts,
      thread: containing(read(threadNames)),
      process: read(processNames),
      task: numbered(read(taskNames)),
      control: read(controlNames),
      configKey: read(configNames),
      agentChange: read(agentChanges),
    };
  }

  /** Reads again what is asked for next. */
  forget(): void {
    for (const list of this.#read) list.forget();
  }
}

/** Names that the server knows, read when they are asked for. */
class ReadNames {
  readonly #read: () => Promise<readonly NameChoice[]>;
  readonly #arrived: () => void;
  #names: readonly NameChoice[] = [];
  #reading: Promise<readonly NameChoice[]> | undefined;

  constructor(read: () => Promise<readonly NameChoice[]>, arrived: () => void) {
    this.#read = read;
    this.#arrived = arrived;
  }

  /** The names that are here; `arrived` is called when there are others. */
  get names(): readonly NameChoice[] {
    if (this.#reading === undefined) void this.#load();
    return this.#names;
  }

  forget(): void {
    this.#reading = undefined;
    this.#names = [];
  }

  async #load(): Promise<void> {
    // Expected: a server that is gone, or has no such list. Then nothing is completed.
    const reading = (async () => this.#read())().catch(() => []);
    this.#reading = reading;
    const names = await reading;
    if (this.#reading !== reading) return;
    this.#names = names;
    this.#arrived();
  }
}

/**
 * Only the names that contain what is typed: Enter takes the first choice, and that must not be a thread whose name merely
 * resembles that of another one, which is not among the choices.
 */
function containing(names: () => readonly NameChoice[]): (typed: string) => readonly NameChoice[] {
  return (typed) => names().filter(({ name }) => name.toLowerCase().includes(typed.trim().toLowerCase()));
}

/** For a number, only the task that has it, or those whose number begins with it: a digit in a title is another thing. */
function numbered(names: () => readonly NameChoice[]): (typed: string) => readonly NameChoice[] {
  return (typed) => {
    const number = /^#?(\d+)$/.exec(typed.trim())?.[1];
    if (number === undefined) return names();
    const exact = names().filter(({ insert }) => insert === `#${number}`);
    return exact.length > 0 ? exact : names().filter(({ name }) => name.startsWith(`#${number}`));
  };
}

/** A number counts from the first turn of the thread, so all have to be here. */
async function turnNumbers({ turns }: SessionContext): Promise<NameChoice[]> {
  return (await turns.read()).map((_, index) => ({ name: `#${index + 1}` }));
}

async function threadNames({ client, state, now }: SessionContext): Promise<NameChoice[]> {
  const { data } = await client.listThreads({ limit: MAX_THREADS, ofTasks: false, sortKey: "updatedAt" });
  const others = data.filter(({ id }) => id !== state?.thread.id);
  return others.map(({ id, name, preview, model, updatedAt }) => ({
    name: (name ?? preview).replaceAll("\n", " ") || id,
    detail: `${agentOfModel(model)}  ${ageOf(updatedAt * 1000, now())}`,
    insert: id,
  }));
}

async function processNames({ client, state }: SessionContext): Promise<NameChoice[]> {
  if (state === undefined) return [];
  const { data } = await client.call("thread/backgroundCommands/list", { threadId: state.thread.id });
  const running = data.map(({ processId, command }) => ({ name: processId, detail: command }));
  return running.length === 0 ? [] : [{ name: "all", detail: "all of them" }, ...running];
}

async function taskNames({ client }: SessionContext): Promise<NameChoice[]> {
  const { data } = await client.call("task/list", {});
  return data.map(({ number, title, phase }) => ({
    name: `#${number} ${title.replaceAll("\n", " ")}`,
    detail: phase,
    insert: `#${number}`,
  }));
}

async function agentChanges({ machine }: SessionContext): Promise<NameChoice[]> {
  return (await machine.agentChanges()).flatMap(({ id, name, change }) =>
    change === undefined ? [] : [{ name: `${change} ${id}`, detail: name }],
  );
}

/** Each key that can be changed, with its values where it has only a few. */
async function configNames({ machine }: SessionContext): Promise<NameChoice[]> {
  return (await machine.configuration())
    .filter(({ lockedBy }) => lockedBy === undefined)
    .flatMap(({ name, doc, choices, value }) => [
      { name, detail: value === undefined ? doc : `${value}  ${doc}` },
      ...choices.map((choice) => ({ name: `${name} ${choice}`, detail: doc })),
      ...(value === undefined ? [] : [{ name: `${name} ${UNSET}`, detail: "removes it" }]),
    ]);
}

/** Each selector with each of its values. */
async function controlNames(session: SessionContext): Promise<NameChoice[]> {
  return (await readControls(session)).flatMap((control) => {
    const { id, label, value, kind } = control;
    const named = (each: string, detail = label) => ({ name: `${id} ${each}`, detail });
    if (kind === "boolean") return [named("true"), named("false")];
    if (kind === "number") return [named(value)];
    return control.choices.map((choice) => named(choice.value, `${label}: ${choice.label}`));
  });
}

/** The parts that can follow those that are typed already. */
function statusParts(typed: string): NameChoice[] {
  const before = /^.*[\s,]/.exec(typed)?.[0] ?? "";
  const used = before.split(/[\s,]+/);
  const parts = STATUS_PART_NAMES.filter((part) => !used.includes(part));
  const choices = parts.map((part) => ({ name: before + part, detail: STATUS_PARTS[part] }));
  return before === "" ? [...choices, { name: "default", detail: "as it was at first" }] : choices;
}
