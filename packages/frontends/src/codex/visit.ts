import type { ThreadSettings } from "@flint/protocol";
import type {
  CodexClientParams,
  CodexClientRequest,
  CodexClientResult,
  CodexThreadStatus,
} from "@flint/protocol/codex";
import type { Client } from "../shared/frontend.ts";
import type { ApprovalWords } from "./approval-words.ts";
import type { EncodedAnswer } from "./encoded-answer.ts";
import type { CodexHost } from "./host/host.ts";
import type { CodexNotification } from "./outbound.ts";
import type { TitleThreads } from "./title-threads.ts";
import type { Hello } from "./understanding.ts";

/** What is known of a thread that a client follows. */
export interface KnownThread {
  readonly settings: ThreadSettings | undefined;
  readonly activeTurnId: string | undefined;
}

/** One client at its desk, as the handlers of requests see it. */
export interface Visit {
  readonly client: Client;
  readonly host: CodexHost;
  /** In which words clients said when they want to be asked. */
  readonly words: ApprovalWords;
  /** Threads that live at this desk only. */
  readonly titles: TitleThreads;
  readonly hello: Hello;
  known(threadId: string): KnownThread;
  /** Tells this client only. */
  send(message: CodexNotification): void;
  /** Has `answer` run with the settings of a new thread, just before the client is told that it started. */
  onStarted(threadId: string, answer: (settings: ThreadSettings) => void): void;
  /** Notes what is known of a thread that the client follows from now on. */
  note(threadId: string, known: Partial<KnownThread>): void;
  /** The client learns from an answer what a thread does, and need not be told. */
  learns(threadId: string, status: CodexThreadStatus): void;
  /** The client lets go of a thread. */
  forget(threadId: string): void;
}

/** Answers a request with `reply`, once, or rejects with a FlintError. */
export type Handler<Name extends CodexClientRequest> = (
  params: CodexClientParams<Name>,
  visit: Visit,
  reply: (answer: CodexClientResult<Name> | EncodedAnswer) => void,
) => unknown;

/** One handler for each of these requests. */
export type Handlers<Name extends CodexClientRequest> = { readonly [Each in Name]: Handler<Each> };
