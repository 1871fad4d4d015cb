import {
  type Action,
  changedPaths,
  type Item,
  isKnownItem,
  isUnconfined,
  type SandboxPolicy,
  type ThreadItem,
  type ThreadSettings,
  textInput,
  type UserInput,
} from "@flint/protocol";
import type { Denial, DriverEvent, DriverSession, EndedCommand, RefusedConnection } from "../ports/index.ts";
import { type EndedItem, StoppedCommands, type StoppedCommandsOptions } from "./stopped-commands.ts";

/** Dependencies of `TurnDenials`. */
export interface TurnDenialsOptions extends Pick<StoppedCommandsOptions, "clock" | "approve" | "grantOnce"> {
  /** The settings that the agent works with. */
  settings(): ThreadSettings;
  /** Absent: nothing can be said. */
  denials?: ((command: EndedCommand) => Promise<readonly Denial[]>) | undefined;
  refused(itemId: string): readonly RefusedConnection[];
  /** An item of the turn. */
  itemOf(itemId: string): ThreadItem | undefined;
  /** Sends a text to the running agent. False if it takes none now. Never rejects. */
  steer(text: string): Promise<boolean>;
  readonly deferred: DeferredTexts;
}

/** Texts that could not be sent to an agent while it worked. Its next prompt begins with them. */
export class DeferredTexts {
  #texts: readonly string[] = [];

  add(text: string): void {
    this.#texts = [...this.#texts, text].slice(-MOST_TEXTS);
  }

  /** Removes and returns them, as input. */
  take(): readonly UserInput[] {
    const taken = this.#texts;
    this.#texts = [];
    return taken.map(textInput);
  }
}

const MOST_TEXTS = 10;

/**
 * Says what the sandbox stopped in a turn: on the item of the command, and to the model. An agent that can add to the
 * result of a command asks for the text. Any other is sent it as input during the turn; if it takes none, its next prompt
 * begins with it.
 */
export class TurnDenials {
  readonly #options: TurnDenialsOptions;
  readonly #stopped: StoppedCommands;
  /** The items whose agent asked for the text itself. */
  readonly #explained = new Set<string>();
  readonly #texts = new Set<Promise<void>>();
  /** Texts on commands and changes that the user allowed, for when the agent has ended its work. */
  #allowed: readonly string[] = [];
  #session: DriverSession | undefined;

  constructor(options: TurnDenialsOptions) {
    const { clock, approve, grantOnce, refused, denials = async () => [] } = options;
    this.#options = options;
    this.#stopped = new StoppedCommands({
      ...{ clock, approve, grantOnce, refused, denials },
      sandbox: () => ({ policy: options.settings().sandboxPolicy, workspace: options.settings().cwd }),
      canGrant: () => this.#session?.canGrant?.() === true,
    });
  }

  /** Begins with the session that the commands of the turn run in; undefined if it says everything itself. */
  begin(session: DriverSession | undefined): void {
    this.#session = session;
  }

  /** A completed command with what the sandbox kept it from; undefined for a report that needs no look. */
  prepare(report: DriverEvent): Promise<readonly DriverEvent[]> | undefined {
    const item = endedCommand(report);
    if (item === undefined || !this.#isLookedAt(endedItem(item))) return undefined;
    return this.#withDenials(report, endedItem(item));
  }

  /** As `TurnContext.explainCommand`. */
  async explain(itemId: string, exitCode: number, output: string): Promise<string | undefined> {
    const item = commandIn(this.#options.itemOf(itemId));
    if (item === undefined) return undefined;
    const ended = { ...endedItem(item), exitCode, output };
    if (!this.#isLookedAt(ended)) return undefined;
    this.#explained.add(itemId);
    return (await this.#stopped.explain(ended))?.text;
  }

  /** Notes a change that the agent can make once it has ended its work, because its sandbox lets it write there then. */
  allowChange(action: Action, folders: readonly string[]): void {
    const paths = action.kind === "fileChange" ? changedPaths(action) : [];
    const text = `The user has allowed this thread to write ${folders.join(", ")}, and your sandbox lets you do so now. Make the change of ${paths.join(", ")} now that was declined before.`;
    if (!this.#allowed.includes(text)) this.#allowed = [...this.#allowed, text];
  }

  /** Has the next prompt begin with what the agent of this turn could not be sent any more. */
  end(): void {
    for (const text of this.#allowed) this.#options.deferred.add(text);
    this.#allowed = [];
  }

  /** Waits for the answers to what was offered, and returns input for the agent if it may run a command again. */
  async followUp(): Promise<readonly UserInput[]> {
    while (this.#texts.size > 0) await Promise.all(this.#texts);
    const allowed = this.#allowed;
    this.#allowed = [];
    return allowed.map(textInput);
  }

  #isLookedAt(ended: EndedItem): boolean {
    const { denials, settings, refused } = this.#options;
    if (denials === undefined || this.#session === undefined) return false;
    return mayBeStopped(ended, settings().sandboxPolicy, refused(ended.itemId).length > 0);
  }

  async #withDenials(report: DriverEvent, ended: EndedItem): Promise<readonly DriverEvent[]> {
    const evidence = await this.#stopped.evidence(ended);
    const said = evidence.filter((sentence) => !ended.output.includes(sentence));
    const item = endedCommand(report);
    if (said.length === 0 || item === undefined) return [report];
    if (!this.#explained.has(ended.itemId)) this.#notify(ended);
    return [{ type: "item/completed", item: { ...item, denials: said } }];
  }

  #notify(ended: EndedItem): void {
    const sent = this.#explainTo(ended).finally(() => this.#texts.delete(sent));
    this.#texts.add(sent);
  }

  async #explainTo(ended: EndedItem): Promise<void> {
    const explained = await this.#stopped.explain(ended);
    if (explained === undefined || (await this.#options.steer(explained.text))) return;
    if (explained.isAllowed) this.#allowed = [...this.#allowed, explained.text];
    else this.#options.deferred.add(explained.text);
  }
}

type CommandItem = Item<"commandExecution">;

/** The command that a report says has ended; undefined for any other report, and for one that did not run. */
function endedCommand(report: DriverEvent): CommandItem | undefined {
  if (report.type !== "item/completed") return undefined;
  const command = commandIn(report.item);
  return command === undefined || command.status === "declined" ? undefined : command;
}

/** The command of an item. */
function commandIn(item: ThreadItem | undefined): CommandItem | undefined {
  if (item === undefined || !isKnownItem(item) || item.type !== "commandExecution") return undefined;
  return item;
}

/**
 * Returns the evidence in the end of a command. One that failed without an exit code has some other than
 * zero.
 */
function endedItem(item: CommandItem): EndedItem {
  const { id: itemId, command, cwd, exitCode, aggregatedOutput: output = "", durationMs: ranMs = 0 } = item;
  return { itemId, command, cwd, exitCode: exitCode ?? (item.status === "failed" ? 1 : 0), output, ranMs };
}

/**
 * Reports whether the sandbox may have stopped a command: only one that failed, was refused a connection, or
 * skipped a file that it could not write.
 */
function mayBeStopped(ended: EndedItem, policy: SandboxPolicy, hasRefusals: boolean): boolean {
  const hasFailed = ended.exitCode !== 0 || hasRefusals || /read-only file system/i.test(ended.output);
  return !isUnconfined(policy) && hasFailed;
}
