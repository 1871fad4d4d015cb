import {
  type AgentCommand,
  type Approval,
  addUsage,
  agentOfModel,
  asFlintError,
  type EventData,
  mintId,
  NO_USAGE,
  type QuestionRequest,
  type ThreadEvent,
  type ThreadItem,
  type ThreadSettings,
  type ThreadState,
  type TokenUsage,
  type Turn,
  type UserInput,
} from "@flint/protocol";
import type { ClientAsks } from "../../shared/client-asks.ts";
import type { Notification } from "../../shared/encoder.ts";
import type { Client } from "../../shared/frontend.ts";
import { SessionAsks } from "../asks/session-asks.ts";
import type { FrontendServices, InitializedClient } from "../client-state.ts";
import { type EditorHost, editorHost } from "../editor/host.ts";
import { withEditorFiles } from "../prompt/input.ts";
import { PendingInputs } from "../prompt/pending-inputs.ts";
import { countOpenDotsTasks, stopReasonOf } from "../prompt/stop-reason.ts";
import type { SentConfig, Update, UpdateFormat } from "../protocol-version.ts";
import { titleUpdate } from "../views/content.ts";
import { actionView } from "../views/tool-view.ts";
import { Translator } from "../views/translator.ts";

/** Dependencies of a session. */
export interface SessionOptions {
  readonly client: Client;
  readonly asks: ClientAsks;
  readonly self: InitializedClient;
  readonly shared: Pick<FrontendServices, "encoder" | "use" | "clock">;
  /** Called when the config of the session may have changed. */
  onConfigChange(session: AcpSession): void;
  /** Called when the agent has reported other commands. */
  onCommandsChange(session: AcpSession): void;
}

/** One thread that a client has open. Sends it what happens there, asks it, and tracks the inputs it waits for. */
export class AcpSession {
  readonly id: string;
  readonly inputs: PendingInputs;
  readonly asks: SessionAsks;
  additionalDirectories: readonly string[] = [];
  /** The commands that an agent of the thread reported last. */
  reportedCommands: ThreadState["agentCommands"];
  title: string | undefined;
  /** The working directory as the client named it. */
  requestedCwd: string | undefined;
  /** True if mentioned files are read from the editor. Off by default: agents read the same disk. */
  editorFiles = false;
  sentConfig: SentConfig = { modeId: "", modelId: "", options: "" };
  /** The token usage of the latest turn so far. */
  turnUsage: TokenUsage = NO_USAGE;
  /** True if a turn is running, of this client or another. */
  isActive = false;
  /** Number of entries of the latest plan that are not completed. */
  #openPlanEntries = 0;
  readonly #options: SessionOptions;
  readonly #format: UpdateFormat;
  readonly #translator: Translator;
  #settings: ThreadSettings | undefined;
  readonly #offered: EditorHost | undefined;
  #hostNoticeSent = false;
  #onIdle: (() => void)[] = [];
  #buffered: ThreadEvent[] | undefined = [];

  /** A session that is opened again keeps the pending inputs and rejections of the one `before`. */
  constructor(id: string, options: SessionOptions, before?: AcpSession) {
    const { client, asks, self } = options;
    const { capabilities, version } = self;
    this.id = id;
    this.#options = options;
    this.#format = version.updates(capabilities);
    this.inputs = before?.inputs ?? new PendingInputs(client.core, id);
    const asking = { client, asks, threadId: id, format: this.#format, capabilities };
    this.asks = new SessionAsks(asking, before?.asks);
    this.#translator = new Translator(this.#format, ({ clientId }) => this.inputs.isOwn(clientId));
    this.#offered = editorHost({
      ...{ use: options.shared.use, clock: options.shared.clock, capabilities, asks, sessionId: id },
      showTerminal: (itemId, terminalId) => this.send(this.#translator.terminal(itemId, terminalId)),
    });
  }

  /** The settings of the thread; undefined until they are known. */
  get settings(): ThreadSettings | undefined {
    return this.#settings;
  }

  set settings(settings: ThreadSettings | undefined) {
    this.#settings = settings;
    if (settings !== undefined) this.#translator.cwd = settings.cwd;
  }

  /** Sends the events buffered so far, and all further ones. Before this the client does not know the session. */
  release(): void {
    const buffered = this.#buffered ?? [];
    this.#buffered = undefined;
    for (const event of buffered) this.#handle(event);
  }

  /** Passes the buffered events on to another session, which then handles them. */
  forwardTo(other: AcpSession): void {
    const buffered = this.#buffered ?? [];
    this.#buffered = [];
    for (const event of buffered) other.event(event);
  }

  /** Takes an event of the thread. */
  event(event: ThreadEvent): void {
    if (this.#buffered !== undefined) this.#buffered.push(event);
    else this.#handle(event);
  }

  /** The slash commands of the agent that works in it now. */
  get agentCommands(): readonly AgentCommand[] {
    const { agent, commands } = this.reportedCommands ?? {};
    return agent === agentOfModel(this.#settings?.model ?? "") ? (commands ?? []) : [];
  }

  /** Resolves when no turn is running, or the session is closed. */
  async idle(): Promise<void> {
    if (this.isActive) await new Promise<void>((resolve) => this.#onIdle.push(resolve));
  }

  /** Interrupts the running turn, if there is one. */
  async interrupt(): Promise<void> {
    await this.#options.client.core.call("turn/interrupt", { threadId: this.id }).catch((error: unknown) => {
      if (asFlintError(error).kind !== "notRunning") throw error;
    });
  }

  /** The input, with the editor's text of mentioned files if that is turned on. */
  async withEditorFiles(input: readonly UserInput[]): Promise<readonly UserInput[]> {
    const { asks, self } = this.#options;
    if (!this.editorFiles || !self.capabilities.readTextFile) return input;
    return withEditorFiles(input, (path) => asks.request("fs/read_text_file", { sessionId: this.id, path }));
  }

  /** From now on the client does itself what it offers and the user wants, which the session says once. */
  provideHost(): void {
    if (this.#offered === undefined) return;
    const { host, notices } = this.#offered;
    this.#options.client.provideHost(this.id, host);
    if (this.#hostNoticeSent) return;
    this.#hostNoticeSent = true;
    this.send(notices.flatMap((notice) => this.#format.notice("info", notice)));
  }

  /** Reports whether there is work left: entries of the plan, or tasks that Dots lists for the workspace. */
  async hasOpenWork(): Promise<boolean> {
    if (this.#openPlanEntries > 0) return true;
    const cwd = this.#settings?.cwd;
    return cwd !== undefined && (await countOpenDotsTasks(this.#options.client.core, cwd)) > 0;
  }

  /** Sends updates to this client only. */
  send(updates: readonly Update[]): void {
    for (const update of updates)
      this.#options.client.notify("session/update", { sessionId: this.id, update });
  }

  /** Sends a message from Flint itself to this client only. */
  sendMessage(text: string): void {
    this.send(this.#format.message(mintId(), text));
  }

  /** Sends that work which is not a turn starts or ends. */
  setBusy(isBusy: boolean): void {
    this.send(isBusy ? this.#format.state("running") : this.#format.state("idle", "end_turn"));
  }

  /** Sends the state of the session. */
  sendState(isActive: boolean): void {
    this.send(this.#format.state(isActive ? "running" : "idle"));
  }

  /** Sends the usage from before the client opened the session, which does not count for the running turn. */
  sendUsage(data: EventData<"thread/tokenUsage/updated"> | undefined): void {
    const at = this.#options.shared.clock.now();
    if (data !== undefined) this.#sendEvent({ type: "thread/tokenUsage/updated", data, at });
  }

  /** Sends past turns. */
  sendHistory(turns: readonly Turn[]): void {
    this.send(this.#translator.history(turns));
  }

  /** The thread is gone, or the client has closed the session. */
  close(): void {
    this.#options.client.provideHost(this.id, undefined);
    this.asks.withdraw();
    this.inputs.close();
    this.#becomeIdle();
  }

  #becomeIdle(): void {
    this.isActive = false;
    for (const resolve of this.#onIdle.splice(0)) resolve();
  }

  #handle(event: ThreadEvent): void {
    this.#beforeSending(event);
    this.#sendEvent(event);
    this.#afterSending(event);
  }

  #sendEvent(event: ThreadEvent): void {
    const { key, updates } = this.#translator.translate(event);
    const { client, shared } = this.#options;
    if (key === undefined) {
      this.send(updates());
      return;
    }
    for (const { line } of shared.encoder.encode(event, () => this.#notifications(updates()), key))
      client.sendLine(line);
  }

  #notifications(updates: readonly Update[]): Notification[] {
    return updates.map((update) => ({
      kind: "notification",
      method: "session/update",
      params: { sessionId: this.id, update },
    }));
  }

  #beforeSending(event: ThreadEvent): void {
    switch (event.type) {
      case "turn/started":
        this.isActive = true;
        this.turnUsage = NO_USAGE;
        break;
      case "thread/tokenUsage/updated":
        this.turnUsage = addUsage(this.turnUsage, event.data.last);
        break;
      case "thread/started":
      case "thread/settings/updated":
        this.settings = event.data.settings;
        break;
      case "turn/plan/updated":
        this.#openPlanEntries = event.data.plan.filter(({ status }) => status !== "completed").length;
        break;
      case "item/started":
        this.#assignTurn(event.data.turnId, event.data.item);
        break;
      case "approval/resolved":
        this.asks.resolve(event.data.approvalId);
        break;
      case "question/resolved":
        this.asks.resolve(event.data.questionId);
        break;
    }
  }

  #afterSending(event: ThreadEvent): void {
    switch (event.type) {
      case "item/completed":
        this.#onItemCompleted(event.data.item);
        break;
      case "approval/requested":
        this.#askApproval(event.data.approval);
        break;
      case "question/requested":
        this.#askQuestion(event.data.request);
        break;
      case "thread/queue/changed":
        this.inputs.queueChanged(new Set(event.data.queue.map(({ id }) => id)));
        break;
      case "thread/settings/updated":
      case "config/updated":
        this.#options.onConfigChange(this);
        break;
      case "thread/commands/updated":
        this.reportedCommands = event.data;
        this.#options.onCommandsChange(this);
        break;
      case "turn/completed":
        this.#sendFailure(event.data.turn);
        this.inputs.turnCompleted(event.data.turn);
        this.#becomeIdle();
        break;
      case "thread/deleted":
        this.close();
        break;
    }
  }

  #assignTurn(turnId: string, item: ThreadItem): void {
    if (!isUserMessage(item)) return;
    this.inputs.assignTurn(item.clientId, turnId);
    // The editor of this client does no work for another one.
    if (!this.inputs.isOwn(item.clientId)) this.#options.client.provideHost(this.id, undefined);
  }

  /** A session without a title gets the start of its first prompt. */
  #onItemCompleted(item: ThreadItem): void {
    if (!isUserMessage(item)) return;
    if (this.title === undefined) {
      const update = titleUpdate(item);
      this.title = update.title;
      this.send([update]);
    }
    this.inputs.messageSent(item.clientId, item.id);
  }

  /** A client that waits for the turn gets its error as the response; all others get it as an update. */
  #sendFailure(turn: Turn): void {
    const { error } = turn;
    if (error === undefined) return;
    const isResponse = this.inputs.isAwaited(turn.id) && typeof stopReasonOf(turn) !== "string";
    if (!isResponse) this.send(this.#format.turnFailed(turn.id, error));
  }

  #askApproval(approval: Approval): void {
    const view = actionView(approval.action, this.#translator.cwd);
    // Clients show the request at its tool call, so they need that one first.
    this.send(this.#translator.pendingToolCall(view));
    this.asks.approval(approval, view);
  }

  #askQuestion(request: QuestionRequest): void {
    if (this.asks.question(request) || !this.#options.client.isOnlySubscriber(this.id)) return;
    const questions = request.questions.map(({ question }) => `- ${question}`).join("\n");
    const text = `The agent has a question, but this client cannot answer it:\n${questions}\nAnswer with your next prompt.`;
    this.send(this.#format.aside(request.id, text));
    this.asks.leaveUnanswered(request);
  }
}

function isUserMessage(item: ThreadItem): item is Extract<ThreadItem, { content: readonly UserInput[] }> {
  return item.type === "userMessage" && "content" in item;
}
