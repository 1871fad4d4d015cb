import type { Approval, QuestionRequest, ThreadEvent, Turn, TurnError } from "@flint/protocol";
import type { ClientRequest, QuestionAnswer } from "./asks/client-request.ts";
import type { ClientAbilities } from "./capabilities.ts";
import type { OfferedCommand } from "./prompt/commands.ts";
import type { Choices } from "./sessions/config-options.ts";

/** An update of a session, in either version of the protocol. */
export interface Update {
  readonly sessionUpdate: string;
}

/** Updates, and under which key other clients get the very same ones; without a key nobody else does. */
export interface Translated {
  readonly key?: string;
  updates(): readonly Update[];
}

/** Whether a message of the user was written at this very client. */
export type IsOwn = (item: { readonly clientId?: string | undefined }) => boolean;

/** What happens in one thread, in the words of one version of the protocol, for one client. */
export interface SessionWords {
  translate(event: ThreadEvent, isOwn: IsOwn): Translated;
  /** The agent works in this folder from now on. */
  moved(cwd: string): void;
  /** Turns of the past, and the items of the running one as they are now. */
  history(turns: readonly Turn[]): readonly Update[];
  /** How the session stands, for a client that has just opened it. */
  standing(activeTurn: boolean): readonly Update[];
  /** Something that Flint itself says. */
  said(messageId: string, text: string): readonly Update[];
  /** What surrounds work that is no turn. */
  working(isBusy: boolean): readonly Update[];
  /** Why a turn failed, for those who do not get it as an answer. */
  failed(turnId: string, error: TurnError): readonly Update[];
  /** What the client must know before it is asked. */
  beforeApproval(approval: Approval): readonly Update[];
  permission(approval: Approval): { readonly method: string; readonly params: object };
  /** How questions are asked, one request after the other; undefined if this client cannot be asked. */
  questions(request: QuestionRequest): readonly ClientRequest<QuestionAnswer>[] | undefined;
  /** What a client that cannot be asked is told instead. */
  unasked(request: QuestionRequest): readonly Update[];
}

/** One version of the protocol. */
export interface Words {
  readonly version: 1 | 2;
  /** Whether a prompt is answered when its message stands in the conversation, not when its turn has ended. */
  readonly answersAtOnce: boolean;
  /** What a client is told about Flint. */
  hello(version: string, abilities: ClientAbilities): object;
  /** What a client is told when a session opens. */
  opened(choices: Choices, commands: readonly OfferedCommand[]): object;
  /** What is told of the choices when they change. */
  chosen(choices: Choices): readonly Update[];
  /** The options as an answer. */
  options(choices: Choices): readonly object[];
  commands(commands: readonly OfferedCommand[]): readonly Update[];
  open(sessionId: string, abilities: ClientAbilities): SessionWords;
}
