import type { SessionUpdate } from "@agentclientprotocol/sdk";
import {
  type Approval,
  addUsage,
  type EventData,
  mintId,
  NO_USAGE,
  type QuestionRequest,
  type ThreadEvent,
  type ThreadSettings,
  type TokenUsage,
  type Turn,
  type UserInput,
} from "@flint/protocol";
import type { Client } from "../../shared/frontend.ts";
import { Asks, type RequestNumbers } from "../asks/asks.ts";
import {
  type ClientRequest,
  formRequest,
  isAskable,
  isChoice,
  type QuestionAnswer,
} from "../asks/questions.ts";
import type { ClientCapabilities } from "../capabilities.ts";
import { withEditorFiles } from "../prompt/editor-files.ts";
import { stopOf } from "../prompt/stop-reason.ts";
import { PromptTurns } from "../prompt/turns.ts";
import type { ProtocolVersion, SentConfig } from "../protocol-version.ts";
import { titleFrom } from "../views/content.ts";
import type { Lines } from "../views/lines.ts";
import { actionView } from "../views/tool-view.ts";
import { Translator } from "../views/translator.ts";
import type { Update, UpdateFormat } from "../views/update-format.ts";

/** What a session needs of its desk. */
export interface SessionOptions {
  readonly client: Client;
  readonly capabilities: ClientCapabilities;
  readonly numbers: RequestNumbers;
  readonly lines: Lines;
  readonly version: ProtocolVersion;
  /** Called when what can be chosen may have changed. */
  onChoices(session: AcpSession): void;
}

/** One thread that a client has open: what it is told, what it is asked, and which prompts it waits for. */
export class AcpSession {
  readonly id: string;
  readonly prompts: PromptTurns;
  readonly asks: Asks;
  /** Folders beside the main one. */
  roots: readonly string[] = [];
  title: string | undefined;
  /** The folder as the client calls it. */
  folder: string | undefined;
  /** Whether files that a prompt links are taken as they stand in the editor. Off: agents read the same disk. */
  editorFiles = false;
  /** The plan of the latest turn, to know whether there is work left. */
  openSteps = 0;
  sentConfig: SentConfig = { modeId: "", modelId: "", options: "" };
  /** What the latest turn used so far. */
  turnUsage: TokenUsage = NO_USAGE;
  /** Whether a turn runs, whoever started it. */
  isActive = false;
  readonly #options: SessionOptions;
  readonly #format: UpdateFormat;
  readonly #translator: Translator;
  #settings: ThreadSettings | undefined;
  #onRest: (() => void)[] = [];
  #held: ThreadEvent[] | undefined = [];

  /** Whoever opens a session again still waits for what was sent `before`, and has refused what was refused. */
  constructor(id: string, options: SessionOptions, before?: AcpSession) {
    this.id = id;
    this.#options = options;
    this.prompts = before?.prompts ?? new PromptTurns(options.client, id);
    this.asks = new Asks(options.client, id, options.numbers, before?.asks);
    this.#format = options.version.updates(options.capabilities);
    this.#translator = new Translator(this.#format, ({ clientId }) => this.prompts.isOwn(clientId));
  }

  /** What the thread works with, as far as it was told. */
  get settings(): ThreadSettings | undefined {
    return this.#settings;
  }

  set settings(settings: ThreadSettings | undefined) {
    this.#settings = settings;
    if (settings !== undefined) this.#translator.cwd = settings.cwd;
  }

  /** From here on the client is told what happens; before, it does not know the session yet. */
  release(): void {
    const held = this.#held ?? [];
    this.#held = undefined;
    for (const event of held) this.#take(event);
  }

  /** Another session is told what happened and was not told here. */
  handOver(other: AcpSession): void {
    const held = this.#held ?? [];
    this.#held = [];
    for (const event of held) other.tell(event);
  }

  /** Resolves when no turn runs; at once if the session is over. */
  async rested(): Promise<void> {
    if (this.isActive) await new Promise<void>((resolve) => this.#onRest.push(resolve));
  }

  /** Takes what happens in the thread. */
  tell(event: ThreadEvent): void {
    if (this.#held !== undefined) this.#held.push(event);
    else this.#take(event);
  }

  /** Tells the client something that is no event. */
  update(update: Update): void {
    this.#options.client.notify("session/update", { sessionId: this.id, update });
  }

  /** The input, with the text of linked files as it stands in the editor, if that is wanted and the editor gives it. */
  async withEditorFiles(input: readonly UserInput[]): Promise<readonly UserInput[]> {
    const { capabilities, client, numbers } = this.#options;
    if (!this.editorFiles || !capabilities.readTextFile) return input;
    return withEditorFiles(input, (path) =>
      client.request("fs/read_text_file", { sessionId: this.id, path }, { id: numbers.take() }),
    );
  }

  /** Says something that only this client hears. */
  say(text: string): void {
    this.#updates(this.#format.message(mintId(), text));
  }

  /** Work that is no turn begins or ends. */
  works(isBusy: boolean): void {
    this.#updates(isBusy ? this.#format.state("running") : this.#format.state("idle", "end_turn"));
  }

  /** Tells how the session stands. */
  stand(isActive: boolean): void {
    this.#updates(this.#format.state(isActive ? "running" : "idle"));
  }

  /** Tells what the thread used before the client was there; it is nothing that the running turn uses. */
  used(data: EventData<"thread/tokenUsage/updated"> | undefined): void {
    if (data !== undefined) this.#say({ type: "thread/tokenUsage/updated", data, at: Date.now() });
  }

  #updates(updates: readonly Update[]): void {
    for (const update of updates) this.update(update);
  }

  /** Tells the history of the thread. */
  replay(turns: readonly Turn[]): void {
    this.#updates(this.#translator.history(turns));
  }

  /** The thread is gone, or the client has left it. */
  close(): void {
    this.asks.settleAll();
    this.prompts.close();
    this.#rest();
  }

  #rest(): void {
    this.isActive = false;
    for (const resolve of this.#onRest.splice(0)) resolve();
  }

  #take(event: ThreadEvent): void {
    this.#before(event);
    this.#say(event);
    this.#after(event);
  }

  #say(event: ThreadEvent): void {
    const { key, updates } = this.#translator.translate(event);
    const { client, lines } = this.#options;
    const made = key === undefined ? lines.make(this.id, updates()) : lines.of(event, key, this.id, updates);
    for (const line of made) client.sendLine(line);
  }

  #before(event: ThreadEvent): void {
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
        this.openSteps = event.data.plan.filter(({ status }) => status !== "completed").length;
        break;
      case "item/started":
        this.#appeared(event.data.turnId, event.data.item);
        break;
      case "approval/resolved":
        this.asks.settle(event.data.approvalId);
        break;
      case "question/resolved":
        this.asks.settle(event.data.questionId);
        break;
    }
  }

  #appeared(turnId: string, item: { readonly type: string; readonly clientId?: string | undefined }): void {
    if (item.type === "userMessage") this.prompts.appeared(item.clientId, turnId);
  }

  #inserted({ type, id, clientId }: { type: string; id: string; clientId?: string | undefined }): void {
    if (type === "userMessage") this.prompts.told(clientId, id);
  }

  #after(event: ThreadEvent): void {
    switch (event.type) {
      case "item/completed":
        this.#entitle(event);
        this.#inserted(event.data.item);
        break;
      case "approval/requested":
        this.#askApproval(event.data.approval);
        break;
      case "question/requested":
        this.#askQuestion(event.data.request);
        break;
      case "thread/queue/changed":
        this.prompts.queueChanged(new Set(event.data.queue.map(({ id }) => id)));
        break;
      case "thread/settings/updated":
      case "config/updated":
        this.#options.onChoices(this);
        break;
      case "turn/completed":
        this.#showFailure(event.data.turn);
        this.prompts.turnEnded(event.data.turn);
        this.#rest();
        break;
      case "thread/deleted":
        this.close();
        break;
    }
  }

  /** A thread that nobody named is called what its first prompt begins with. */
  #entitle(event: Extract<ThreadEvent, { type: "item/completed" }>): void {
    const { item } = event.data;
    if (this.title !== undefined || item.type !== "userMessage" || !("content" in item)) return;
    this.title = titleFrom(item);
    const info: SessionUpdate = { sessionUpdate: "session_info_update", title: this.title };
    this.update(info);
  }

  /** Whoever waits for the turn gets the failure as the answer; others, and those who only learn that it stopped, read it. */
  #showFailure(turn: Turn): void {
    const { error } = turn;
    if (error === undefined) return;
    const isAnswered = this.prompts.isWaitedFor(turn.id) && typeof stopOf(turn) !== "string";
    if (!isAnswered) this.#updates(this.#format.turnFailed(turn.id, error));
  }

  #askApproval(approval: Approval): void {
    const view = actionView(approval.action, this.#translator.cwd);
    // Clients show the request at its tool call, so they need that one first.
    this.#updates(this.#translator.pendingToolCall(view));
    void this.asks.approval(approval, this.#format.permissionRequest(this.id, approval, view));
  }

  #askQuestion(request: QuestionRequest): void {
    const steps = this.#questionRequests(request);
    if (steps !== undefined) void this.asks.question(request, steps);
    else if (this.#options.client.isOnlySubscriber(this.id)) {
      this.#updates(this.#format.aside(request.id, unanswerable(request)));
      void this.asks.question(request, []);
    }
  }

  /** The requests that ask the questions, one after the other; undefined if the client has no way to answer. */
  #questionRequests(request: QuestionRequest): readonly ClientRequest<QuestionAnswer>[] | undefined {
    if (!isAskable(request)) return undefined;
    if (this.#options.capabilities.forms) return [formRequest(this.id, request)];
    if (!isChoice(request)) return undefined;
    return request.questions.map((question) => this.#format.choiceRequest(this.id, request.itemId, question));
  }
}

function unanswerable({ questions }: QuestionRequest): string {
  const list = questions.map(({ question }) => `- ${question}`).join("\n");
  return `The agent asked, and this client has no way to answer:\n${list}\nAnswer with your next prompt.`;
}
