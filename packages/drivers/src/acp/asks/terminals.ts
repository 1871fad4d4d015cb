import { resolve } from "node:path";
import { orAborted, type RunningProcess, type Sandbox } from "@flint/core/ports";
import { type Decision, type Item, LIMITS } from "@flint/protocol";
import { RequestRefusal } from "../process/request-refusal.ts";
import { type JsonObject, listOf, numberOf, objectOf, stringOf } from "../wire.ts";
import type { Desk } from "./desk.ts";

const MOST_TERMINALS = 32;
const DENIED: Decision = { outcome: "cancel", scope: "once" };

/** The commands that an agent runs through its client: asked about, confined, bounded, and gone with the turn. */
export class Terminals {
  readonly #sandbox: Sandbox;
  readonly #running = new Map<string, Terminal>();
  #count = 0;

  constructor(sandbox: Sandbox) {
    this.#sandbox = sandbox;
  }

  /** Answers a request about terminals. Rejects with a RequestRefusal. */
  async answer(method: string, params: JsonObject, desk: Desk): Promise<unknown> {
    if (method === "terminal/create") return this.#create(params, desk);
    const terminalId = stringOf(params.terminalId) ?? "";
    const terminal = this.#running.get(terminalId);
    if (terminal === undefined) throw new RequestRefusal("notFound", `There is no terminal ${terminalId}.`);
    switch (method) {
      case "terminal/output":
        return terminal.output();
      case "terminal/wait_for_exit":
        return terminal.exit;
      case "terminal/kill":
        await terminal.stop();
        return {};
      case "terminal/release":
        this.#running.delete(terminalId);
        await terminal.stop();
        return {};
      default:
        throw new RequestRefusal("methodNotFound", `Flint does not know ${method}.`);
    }
  }

  /** Tells all that a terminal printed and prints; once for each follower. */
  follow(terminalId: string, follower: string, printed: (text: string) => void): void {
    this.#running.get(terminalId)?.follow(follower, printed);
  }

  /** Ends all of them. */
  async stopAll(): Promise<void> {
    const all = [...this.#running.values()];
    this.#running.clear();
    await Promise.all(all.map((terminal) => terminal.stop()));
  }

  async #create(params: JsonObject, desk: Desk): Promise<object> {
    if (this.#running.size >= MOST_TERMINALS)
      throw new RequestRefusal("invalidParams", "Too many terminals are open. Release some.");
    const variables = listOf(params.env).flatMap(variable);
    const { command, shown } = commandOf(params, variables);
    const { cwd: workspace, sandboxPolicy: policy } = desk.turn.settings;
    const cwd = resolve(workspace, stringOf(params.cwd) ?? ".");
    const shownItem = desk.allowed.hasCommand(shown, cwd) ? undefined : await ask(shown, cwd, desk);
    const environment = Object.fromEntries(variables);
    const running = await this.#sandbox.start({ command, cwd, workspace, policy, environment });
    const limit = Math.min(numberOf(params.outputByteLimit) ?? LIMITS.output, LIMITS.output);
    const terminal = new Terminal(running, limit);
    if (shownItem !== undefined) tell(shownItem, terminal, desk);
    this.#count += 1;
    const terminalId = `terminal-${this.#count}`;
    this.#running.set(terminalId, terminal);
    return { terminalId };
  }
}

/** One command that runs. The end of its output is kept, as much as was asked for. */
class Terminal {
  readonly exit: Promise<{ readonly exitCode: number; readonly signal: null }>;
  readonly #running: RunningProcess;
  readonly #limit: number;
  #text = "";
  #isTruncated = false;
  #exitCode: number | undefined;
  readonly #followers = new Map<string, (text: string) => void>();

  constructor(running: RunningProcess, limit: number) {
    this.#running = running;
    this.#limit = limit;
    running.stdin.end();
    for (const stream of [running.stdout, running.stderr])
      stream.setEncoding("utf8").on("data", (text: string) => this.#keep(text));
    this.exit = running.exited.then(({ exitCode }) => {
      this.#exitCode = exitCode;
      return { exitCode, signal: null };
    });
  }

  output(): object {
    const ended =
      this.#exitCode === undefined ? {} : { exitStatus: { exitCode: this.#exitCode, signal: null } };
    return { output: this.#text, truncated: this.#isTruncated, ...ended };
  }

  follow(follower: string, printed: (text: string) => void): void {
    if (this.#followers.has(follower)) return;
    this.#followers.set(follower, printed);
    if (this.#text !== "") printed(this.#text);
  }

  async stop(): Promise<void> {
    await this.#running.stop();
    await this.exit;
  }

  #keep(text: string): void {
    const all = this.#text + text;
    this.#isTruncated ||= all.length > this.#limit;
    this.#text = all.slice(Math.max(0, all.length - this.#limit));
    for (const printed of this.#followers.values()) printed(text);
  }
}

/** The item of a command that nobody allowed yet; rejects if nobody does. */
async function ask(command: string, cwd: string, desk: Desk): Promise<Item<"commandExecution">> {
  const id = desk.takeItemId();
  const item: Item<"commandExecution"> = { type: "commandExecution", id, command, cwd, status: "inProgress" };
  desk.emit({ type: "item/started", item });
  const action = { kind: "command" as const, itemId: id, command, cwd };
  const decision = await orAborted(desk.turn.approve(action), desk.signal, DENIED);
  if (decision.outcome === "allow" && !desk.signal.aborted) return item;
  desk.emit({ type: "item/completed", item: { ...item, status: "declined" } });
  throw new RequestRefusal("invalidParams", decision.message ?? "The user does not want this to be run.");
}

function tell(item: Item<"commandExecution">, terminal: Terminal, desk: Desk): void {
  let output = "";
  terminal.follow(item.id, (delta) => {
    if (output.length < LIMITS.output) output += delta;
    desk.emit({ type: "item/commandExecution/outputDelta", itemId: item.id, delta });
  });
  void terminal.exit.then(({ exitCode }) => {
    const status = exitCode === 0 ? "completed" : "failed";
    desk.emit({ type: "item/completed", item: { ...item, status, exitCode, aggregatedOutput: output } });
  });
}

/** A command without arguments may be a whole line for a shell. What is set for it is shown, it may change everything. */
function commandOf(
  params: JsonObject,
  variables: readonly (readonly [string, string])[],
): { command: readonly string[]; shown: string } {
  const program = stringOf(params.command) ?? "";
  const rest = listOf(params.args).map(String);
  if (program === "") throw new RequestRefusal("invalidParams", "command has to be given.");
  const shown = [...variables.map(([name, value]) => `${name}=${value}`), program, ...rest].join(" ");
  const isLine = rest.length === 0 && /\s/.test(program);
  return { command: isLine ? ["sh", "-c", program] : [program, ...rest], shown };
}

function variable(each: unknown): [string, string][] {
  const { name, value } = objectOf(each);
  return typeof name === "string" && typeof value === "string" ? [[name, value]] : [];
}
