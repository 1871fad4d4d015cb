import { effortValue, type TurnStatus, type UserInput } from "@flint/protocol";
import type { FlintClient, ThreadHandle, TurnResult } from "@flint/sdk";
import { marksFor, TurnTally } from "@flint/tui/draw";
import { escapeControls } from "@flint/view";
import type { ParsedArguments } from "../../command-line/command.ts";
import { exitCodeOf, type StopCause } from "../../command-line/exit-codes.ts";
import { describeLimit, LIMIT_NAMES } from "../../command-line/limit-flags.ts";
import { printError } from "../../command-line/output.ts";
import { lastMessageWriter } from "../../command-line/output-file.ts";
import { type PlacedOptions, serverOptions } from "../../command-line/server-options.ts";
import { VERSION } from "../../version.ts";
import type { OpenServer } from "../local-server.ts";
import { Approvals, declinedReport, declinedWithoutPrompt } from "./asks/approvals.ts";
import { questionsFor } from "./asks/questions.ts";
import { headerOf, imageSupportWarning } from "./header.ts";
import { imageInput, isPiped, readPiped, readSchema, textInput } from "./input.ts";
import { Interruption } from "./interrupt.ts";
import { type EXEC_FLAGS, type ExecOptions, readExecOptions } from "./options.ts";
import type { LiveView } from "./output/live.ts";
import { ExecTerminal, isLiveTerminal } from "./output/terminal.ts";
import { type CheckedAnswer, checkAnswer, type Schema } from "./schema.ts";
import { openThread, ThreadFeed } from "./thread.ts";

/** `flint exec "PROMPT"`: runs one turn in a new or existing thread and prints it as it happens. */
export async function exec(given: ParsedArguments<typeof EXEC_FLAGS>): Promise<number> {
  const { values, positionals } = given;
  if (values.detach === true) return (await import("./detach.ts")).execDetached(given);
  const options = readExecOptions(values);
  const server = await serverOptions(options.server);
  const schema = options.schemaFile === undefined ? undefined : await readSchema(options.schemaFile);
  const images = await Promise.all(options.images.map(imageInput));
  const log = (text: string): void => void process.stderr.write(text);
  const piped = isPiped(process.stdin) ? await readPiped(process.stdin, log) : undefined;
  const input = [...textInput(positionals, piped), ...images];
  const file = options.lastMessageFile;
  const onAnswer = file === undefined ? undefined : lastMessageWriter(file);
  return runTurn({ options, server, schema, input, onAnswer });
}

/** Runs one turn. Resolves with its exit code. */
export async function runTurn(given: RunOptions): Promise<number> {
  const isLive = given.options.format === "turn" && isLiveTerminal();
  // Loaded only at a terminal: it brings the Markdown parser along.
  const live = isLive ? (await import("./output/live.ts")).LiveView : undefined;
  return new ExecRun(given, live).run();
}

/** The input of one run. */
export interface RunOptions {
  readonly options: ExecOptions;
  readonly server: PlacedOptions;
  readonly schema: Schema | undefined;
  readonly input: readonly UserInput[];
  /** The reasoning effort, for agents that have one. */
  readonly effort?: string | undefined;
  /** Called with the agent's last message when the turn has completed. */
  readonly onAnswer?: ((text: string) => void) | undefined;
}

/** One turn, from the first line of output to the exit code. */
class ExecRun {
  readonly #given: RunOptions;
  readonly #tally = new TurnTally();
  readonly #terminal: ExecTerminal;
  readonly #approvals: Approvals;
  readonly #interruption: Interruption;
  readonly #startedAt = Date.now();
  #thread: ThreadHandle | undefined;
  #wentOverLimit = false;

  constructor(given: RunOptions, live: typeof LiveView | undefined) {
    this.#given = given;
    const { options, server, schema } = given;
    this.#interruption = new Interruption({
      interrupting: () => this.#terminal.interrupting(),
      exitNow: () => this.#exitNow(),
    });
    this.#terminal = new ExecTerminal({
      format: options.format,
      live,
      cwd: server.cwd,
      tally: this.#tally,
      answer: schema === undefined ? undefined : (text) => answerText(checkAnswer(text, schema), text),
      threadId: () => this.#thread?.id,
      // A thread that is not stored cannot be shown later.
      how: options.ephemeral ? undefined : "flint threads show last",
      interrupt: () => this.#interruption.press("SIGINT"),
      outputLost: (loss) => this.#interruption.loseOutput(loss),
    });
    const { asker, look } = this.#terminal;
    this.#approvals = new Approvals({ asker, look, cwd: server.cwd });
  }

  async run(): Promise<number> {
    const stopListening = this.#interruption.listen(process);
    // Keeps the process alive while it waits for an agent and nothing else is open.
    const alive = setInterval(() => {}, 60_000);
    try {
      return await this.#served();
    } finally {
      this.#terminal.close();
      stopListening();
      clearInterval(alive);
    }
  }

  /** The server is loaded after the first line is on the screen. */
  async #served(): Promise<number> {
    const { openServer } = await import("../local-server.ts");
    const { options, server } = this.#given;
    const opened = await openServer(server, options.server, {
      clientInfo: { name: "flint-exec", title: "flint exec", version: VERSION },
      onApproval: this.#approvals.decide,
      onQuestion: questionsFor(this.#terminal.asker),
      onWarning: ({ message }) => this.#terminal.view.say(message),
    });
    try {
      const code = this.#finish(await this.#turn(opened));
      process.stderr.write(await this.#backgroundNote(opened));
      return code;
    } catch (thrown) {
      throw explained(thrown, opened);
    } finally {
      await opened.close();
    }
  }

  /** Runs the turn; undefined if it was interrupted before it started. */
  async #turn({ client, isShared }: OpenServer): Promise<TurnResult | undefined> {
    const { options, server, schema, input } = this.#given;
    const { signal } = this.#interruption;
    const feed = new ThreadFeed((event) => {
      this.#tally.count(event);
      this.#wentOverLimit ||= event.type === "warning" && event.data.reason === "budgetOverrun";
      this.#terminal.view.show(event);
    });
    client.subscribe(feed);
    const { thread, settings, resumed, overrides, notices } = await openThread(
      client,
      options,
      server,
      isShared,
    );
    this.#thread = thread;
    // With a schema, a program reads the output.
    if (options.format === "turn" && schema === undefined) {
      const { between } = marksFor(this.#terminal.look().unicode);
      this.#terminal.header(headerOf(settings, between, server.offlineAgents));
    }
    for (const notice of notices) this.#terminal.notify(notice);
    const blind = options.images.length > 0 ? imageSupportWarning(settings, server.offlineAgents) : undefined;
    if (blind !== undefined) this.#terminal.notify(blind);
    if (resumed !== undefined) {
      this.#tally.costBefore = thread.state.cost;
      this.#terminal.view.show(resumed);
    }
    feed.start(thread.id);
    if (signal.aborted) return undefined;
    return thread.run(input, {
      ...overrides,
      ...(await this.#effort(client, thread, overrides.model)),
      ...(schema === undefined ? {} : { outputSchema: { ...schema } }),
      signal,
      allowFailure: true,
    });
  }

  /** The requested effort as a setting of the thread's agent; one that the agent does not have is reported and ignored. */
  async #effort(
    client: FlintClient,
    thread: ThreadHandle,
    model: string | undefined,
  ): Promise<EffortOverride> {
    const { effort } = this.#given;
    if (effort === undefined) return {};
    // Only the options of the thread's own model are known.
    const isOwn = model === undefined || isNameOf(model, thread.state.settings.model);
    const config = isOwn ? effortValue(await client.configList(thread.id), effort) : undefined;
    if (config !== undefined) return { config };
    this.#terminal.view.say(`Ignoring the effort ${JSON.stringify(effort)}: the model does not offer it.`);
    return {};
  }

  #finish(result: TurnResult | undefined): number {
    const { options, schema, onAnswer } = this.#given;
    const status: TurnStatus = result?.status ?? "interrupted";
    const text = result?.text ?? "";
    const checked = schema === undefined ? undefined : checkAnswer(text, schema);
    const resumeWith =
      options.ephemeral || this.#thread === undefined ? undefined : resumeCommand(this.#thread.id);
    const { tokens, cost, files, failedCalls } = this.#tally;
    // The user's own time is not the agent's.
    const elapsedMs = Date.now() - this.#startedAt - (result?.turn.waitedMs ?? 0);
    this.#terminal.view.end({
      status,
      text,
      error: this.#problemOf(result),
      elapsedMs,
      tokens,
      cost,
      files,
      failedCalls,
      resumeWith,
    });
    this.#terminal.close();
    if (status === "completed" && checked?.ok === false) {
      printError(`The answer does not match ${options.schemaFile}: ${checked.problem}.`, 0);
    }
    // Not every agent repeats the reason that it was given.
    const declined = declinedWithoutPrompt(result?.turn.declined ?? [], this.#approvals.isUnattended);
    process.stderr.write(declinedReport(declined));
    if (status === "completed") onAnswer?.(checked === undefined ? text : answerText(checked, text));
    const declinedUnattended = declined.some(({ forItself }) => forItself !== true);
    return exitCodeOf({
      ...{ status, cause: this.#cause, declinedUnattended, matchesSchema: checked?.ok },
      errorInfo: result?.turn.error?.errorInfo,
      wentOverLimit: this.#wentOverLimit,
    });
  }

  /** Describes the fate of the commands that the agent left running; empty if there are none. */
  async #backgroundNote({ client, isShared }: OpenServer): Promise<string> {
    const threadId = this.#thread?.id;
    if (threadId === undefined) return "";
    const { data } = await client.call("thread/backgroundCommands/list", { threadId });
    if (data.length === 0) return "";
    const commands = data.map(({ command }) => escapeControls(command)).join(", ");
    return isShared
      ? `flint: Running in the background: ${commands} (flint threads background ${threadId})\n`
      : `flint: Stopped: ${commands}. Background commands keep running only in a running server (flint serve).\n`;
  }

  /**
   * Returns the reason the turn failed. If only one limit applies and it came from the command line, it is
   * named by its option.
   */
  #problemOf(result: TurnResult | undefined): string | undefined {
    const error = result?.turn.error;
    const { limits = {} } = this.#given.options;
    const { turn = {}, thread = {} } = this.#thread?.state.settings.budget ?? {};
    const isOnly = Object.keys(turn).length + Object.keys(thread).length === 1;
    const [name] = isOnly ? LIMIT_NAMES.filter((each) => limits[each] !== undefined) : [];
    if (error?.errorInfo !== "BudgetExceeded" || name === undefined) return error?.message;
    return `Stopped at the ${describeLimit(name, limits[name] ?? 0)}.`;
  }

  get #cause(): StopCause | undefined {
    return this.#interruption.cause;
  }

  /** The user does not want to wait: whatever is running ends with this process. */
  #exitNow(): void {
    this.#terminal.close();
    process.exit(exitCodeOf({ status: "interrupted", cause: this.#cause, declinedUnattended: false }));
  }
}

/** A thread that the running server has open can be continued only there: says why that is not done here. */
function explained(thrown: unknown, { notJoined }: OpenServer): unknown {
  const isLocked = thrown instanceof Error && "kind" in thrown && thrown.kind === "threadLocked";
  if (!isLocked || notJoined === undefined) return thrown;
  const way = "Leave that out, or stop the server with flint server stop.";
  return new Error(`The running server has this thread open, and ${notJoined}. ${way}`, { cause: thrown });
}

type EffortOverride = { readonly config?: Readonly<Record<string, string>> };

/** A model can be named with its agent, without it, or by the agent alone. */
function isNameOf(name: string, model: string): boolean {
  return name === model || model.endsWith(`/${name}`) || model.startsWith(`${name}/`);
}

function resumeCommand(threadId: string): string {
  return `flint exec --resume ${threadId} "..."`;
}

function answerText(checked: CheckedAnswer, text: string): string {
  return checked.ok ? checked.json : text;
}
