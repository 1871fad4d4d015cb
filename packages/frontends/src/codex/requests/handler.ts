import type {
  CodexClientParams,
  CodexClientRequest,
  CodexClientResult,
  CodexThreadStatus,
} from "@flint/protocol/codex";
import type { RequestContext } from "../../shared/request-context.ts";
import type { OutgoingNotification } from "../events/events.ts";
import type { CodexHost } from "../host/host.ts";
import type { CodexClientInfo } from "../wire/parse-request.ts";
import type { RequestedPolicies } from "../wire/requested-policies.ts";
import type { KnownThreads } from "./known-threads.ts";
import type { TitleThreads } from "./title-threads.ts";

/** The client of a request, as the handlers of requests see it. */
export interface CodexClient {
  /** What the client sent about itself with `initialize`. */
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
