import { resolve } from "node:path";
import { orAborted, type RunningProcess, type Sandbox } from "@flint/core/ports";
import { shellQuote, singleQuote } from "@flint/core/text";
import { type Decision, type Item, LIMITS, listOf, numberOf, stringOf } from "@flint/protocol";
import { type JsonObject, objectOf } from "../../shared/json.ts";
import { RequestRefusal } from "../process/connection.ts";
import type { RequestContext } from "./permissions.ts";

const MAX_TERMINALS = 32;
const STOPPED: Decision = { outcome: "cancel", scope: "once" };

type OutputListener = (text: string) => void;

/** The commands that an agent runs through its client: approved, sandboxed, bounded, and stopped with the turn. */
export class Terminals {
  readonly #sandbox: Sandbox;
  readonly #running = new Map<string, Terminal>();
  #count = 0;

  constructor(sandbox: Sandbox) {
    this.#sandbox = sandbox;
  }

  /** Answers a `terminal/` request. Rejects with a RequestRefusal. */
  async answer(method: string, params: JsonObject, context: RequestContext): Promise<unknown> {
    if (method === "terminal/create") return this.#create(params, context);
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
        throw new RequestRefusal("methodNotFound", `Flint does not support ${method}.`);
    }
  }

  /** Calls a listener with all past and future output of a terminal; once for each subscriber. */
  subscribe(terminalId: string, subscriber: string, listener: OutputListener): void {
    this.#running.get(terminalId)?.subscribe(subscriber, listener);
  }

  /** Stops all of them. */
  async stopAll(): Promise<void> {
    const all = [...this.#running.values()];
    this.#running.clear();
    await Promise.all(all.map((terminal) => terminal.stop()));
  }

  async #create(params: JsonObject, context: RequestContext): Promise<object> {
    if (this.#running.size >= MAX_TERMINALS)
      throw new RequestRefusal("invalidParams", "Too many terminals are open. Release some.");
    const variables = listOf(params.env).flatMap(variable);
    const { command, shown } = commandOf(params, variables);
    const { cwd: workspace, sandboxPolicy: policy } = context.turn.settings;
    const cwd = resolve(workspace, stringOf(params.cwd) ?? ".");
    const item = context.approved.hasCommand(shown, cwd) ? undefined : await approve(shown, cwd, context);
    const environment = Object.fromEntries(variables);
    const running = await this.#sandbox.start({ command, cwd, workspace, policy, environment });
    const limit = Math.min(numberOf(params.outputByteLimit) ?? LIMITS.output, LIMITS.output);
    const terminal = new Terminal(running, limit);
    if (item !== undefined) showIn(item, terminal, context);
    this.#count += 1;
    const terminalId = `terminal-${this.#count}`;
    this.#running.set(terminalId, terminal);
    return { terminalId };
  }
}

/** A running command, with the end of its output up to the limit. */
class Terminal {
  readonly exit: Promise<{ readonly exitCode: number; readonly signal: null }>;
  readonly #running: RunningProcess;
  readonly #limit: number;
  #output = "";
  #isTruncated = false;
  #exitCode: number | undefined;
  readonly #subscribers = new Map<string, OutputListener>();

  constructor(running: RunningProcess, limit: number) {
    this.#running = running;
    this.#limit = limit;
    running.stdin.end();
    for (const stream of [running.stdout, running.stderr])
      stream.setEncoding("utf8").on("data", (text: string) => this.#onOutput(text));
    this.exit = running.exited.then(({ exitCode }) => {
      this.#exitCode = exitCode;
      return { exitCode, signal: null };
    });
  }

  output(): object {
    const ended =
      this.#exitCode === undefined ? {} : { exitStatus: { exitCode: this.#exitCode, signal: null } };
    return { output: this.#output, truncated: this.#isTruncated, ...ended };
  }

  subscribe(subscriber: string, listener: OutputListener): void {
    if (this.#subscribers.has(subscriber)) return;
    this.#subscribers.set(subscriber, listener);
    if (this.#output !== "") listener(this.#output);
  }

  async stop(): Promise<void> {
    await this.#running.stop();
    await this.exit;
  }

  #onOutput(text: string): void {
    const all = this.#output + text;
    this.#isTruncated ||= all.length > this.#limit;
    this.#output = all.slice(Math.max(0, all.length - this.#limit));
    for (const listener of this.#subscribers.values()) listener(text);
  }
}

/** The item of a command that had to be approved first; rejects if it was not. */
async function approve(
  command: string,
  cwd: string,
  context: RequestContext,
): Promise<Item<"commandExecution">> {
  const id = context.takeItemId();
  const item: Item<"commandExecution"> = { type: "commandExecution", id, command, cwd, status: "inProgress" };
  context.emit({ type: "item/started", item });
  const action = { kind: "command" as const, itemId: id, command, cwd };
  const decision = await orAborted(context.turn.approve(action), context.signal, STOPPED);
  if (decision.outcome === "allow" && !context.signal.aborted) return item;
  context.emit({ type: "item/completed", item: { ...item, status: "declined" } });
  throw new RequestRefusal("invalidParams", decision.message ?? "The user declined this command.");
}

/** Shows the output and the end of a command in its item. */
function showIn(item: Item<"commandExecution">, terminal: Terminal, context: RequestContext): void {
  let output = "";
  terminal.subscribe(item.id, (delta) => {
    if (output.length < LIMITS.output) output += delta;
    context.emit({ type: "item/commandExecution/outputDelta", itemId: item.id, delta });
  });
  void terminal.exit.then(({ exitCode }) => {
    const status = exitCode === 0 ? "completed" : "failed";
    context.emit({ type: "item/completed", item: { ...item, status, exitCode, aggregatedOutput: output } });
  });
}

/**
 * A command without arguments may be a line for a shell. Its variables are shown, because they may change everything. What
 * is shown is what a shell would have to be given to run the same: a program whose name has spaces is not another program.
 */
export function commandOf(
  params: JsonObject,
  variables: readonly (readonly [string, string])[],
): { command: readonly string[]; shown: string } {
  const program = stringOf(params.command) ?? "";
  const args = listOf(params.args).map(String);
  if (program === "") throw new RequestRefusal("invalidParams", "command has to be given.");
  const set = variables.map(([name, value]) => {
    if (VARIABLE.test(name)) return `${name}=${shellQuote(value)}`;
    throw new RequestRefusal("invalidParams", `${JSON.stringify(name)} is not the name of a variable.`);
  });
  if (args.length === 0 && /\s/.test(program))
    return { command: ["sh", "-c", program], shown: [...set, program].join(" ") };
  // A word with an equals sign at the front would set a variable.
  const first = program.includes("=") ? singleQuote(program) : shellQuote(program);
  return { command: [program, ...args], shown: [...set, first, ...args.map(shellQuote)].join(" ") };
}

const VARIABLE = /^[A-Za-z_]\w*$/;

function variable(entry: unknown): [string, string][] {
  const { name, value } = objectOf(entry);
  return typeof name === "string" && typeof value === "string" ? [[name, value]] : [];
}
