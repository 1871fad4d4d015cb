import type { ThreadEvent, ThreadSettings } from "@flint/protocol";
import type {
  CodexClientParams,
  CodexClientRequest,
  CodexClientResult,
  CodexThreadStatus,
} from "@flint/protocol/codex";
import type { RequestContext } from "../../shared/frontend.ts";
import type { OutgoingNotification } from "../events/events.ts";
import type { CodexHost } from "../host/host.ts";
import type { RequestedPolicies } from "../wire/policies.ts";
import type { TitleThreads } from "./title-threads.ts";

/** Information that a client sent about itself with `initialize`. */
export interface CodexClientInfo {
  readonly name: string;
  readonly title: string | undefined;
  readonly version: string;
  readonly experimentalApi: boolean;
  /** The notifications that it opted out of. */
  readonly optedOut: ReadonlySet<string>;
}

/** The client of a request, as the handlers of requests see it. */
export interface CodexClient {
  /** The information that the client sent about itself with `initialize`. */
  readonly info: CodexClientInfo;
  readonly host: CodexHost;
  readonly policies: RequestedPolicies;
  readonly threads: KnownThreads;
  readonly titles: TitleThreads;
  isSubscribed(threadId: string): boolean;
  /** Sends a notification to this client only. */
  notify(notification: OutgoingNotification): void;
  /** Notes a status that the client learns from an answer, so that it is not sent again. */
  learnStatus(threadId: string, status: CodexThreadStatus): void;
  /** The client leaves a thread. */
  forget(threadId: string): void;
}

/** Answers a request through its context, once, or rejects with a FlintError. */
export type Handler<Name extends CodexClientRequest> = (
  params: CodexClientParams<Name>,
  context: RequestContext<CodexClientResult<Name>>,
  client: CodexClient,
) => unknown;

/** One handler for each of these requests. */
export type Handlers<Name extends CodexClientRequest> = { readonly [Each in Name]: Handler<Each> };

/** The known state of a thread that a client is subscribed to. */
interface KnownThread {
  readonly settings: ThreadSettings | undefined;
  readonly activeTurnId: string | undefined;
}

const UNKNOWN: KnownThread = { settings: undefined, activeTurnId: undefined };

/** The state of one client's threads that later answers need. */
export class KnownThreads {
  readonly #threads = new Map<string, KnownThread>();
  readonly #onStarted = new Map<string, (settings: ThreadSettings) => void>();

  get(threadId: string): KnownThread {
    return this.#threads.get(threadId) ?? UNKNOWN;
  }

  update(threadId: string, known: Partial<KnownThread>): void {
    this.#threads.set(threadId, { ...this.get(threadId), ...known });
  }

  /** Has `answer` run with the settings of a new thread, right before the client is sent that it started. */
  onStarted(threadId: string, answer: (settings: ThreadSettings) => void): void {
    this.#onStarted.set(threadId, answer);
  }

  /** Takes an event before the client is sent it. */
  observe(event: ThreadEvent): void {
    if (event.type === "thread/started") this.#started(event.data.thread.id, event.data.settings);
    else if (event.type === "thread/settings/updated") {
      this.update(event.data.threadId, { settings: event.data.settings });
    } else if (event.type === "turn/started") {
      this.update(event.data.threadId, { activeTurnId: event.data.turn.id });
    } else if (event.type === "turn/completed") {
      this.update(event.data.threadId, { activeTurnId: undefined });
    }
  }

  forget(threadId: string): void {
    this.#threads.delete(threadId);
  }

  /** The client is gone. */
  forgetAll(): void {
    this.#threads.clear();
    this.#onStarted.clear();
  }

  #started(threadId: string, settings: ThreadSettings): void {
    this.update(threadId, { settings });
    const answer = this.#onStarted.get(threadId);
    this.#onStarted.delete(threadId);
    answer?.(settings);
  }
}
