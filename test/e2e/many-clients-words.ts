import type { FrontendName } from "../../packages/server/src/frontends.ts";

/** Any object of a wire. */
export type Fields = Readonly<Record<string, unknown>>;

/** A request: its method and its params. */
export type Call = readonly [method: string, params: object];

/** What a client of a door says and hears, for the few things that a person does with any client. */
export interface DoorWords {
  readonly header: boolean;
  readonly hello: Call;
  begin(cwd: string): Call;
  /** The id in what `begin` was answered. */
  idOf(answer: Fields): unknown;
  attach(threadId: string, cwd: string): Call;
  prompt(threadId: string, text: string): Call;
  /** Whether the answer to a prompt comes with the end of its turn, and is all that tells of it. */
  readonly promptLasts: boolean;
  /** What stands in the message that tells of the end of a turn. */
  readonly turnEnd: string;
  isQuestion(message: Fields): boolean;
  /** What answers a question: a response, or a request of the client. */
  answer(question: Fields, isYes: boolean): { readonly result: object } | { readonly call: Call };
  /** Whether a message says that a question needs no answer any more. */
  isWithdrawal(message: Fields, question: Fields): boolean;
}

const CLIENT_INFO = { name: "test", version: "1" };
const textInput = (text: string) => [{ type: "text", text }];

/** Any value as an object that can be looked into. */
export function fields(value: unknown): Fields {
  return Object(value);
}

const FLINT_WORDS: DoorWords = {
  header: false,
  hello: ["initialize", { clientInfo: CLIENT_INFO }],
  begin: (cwd) => ["thread/start", { cwd }],
  idOf: ({ thread }) => fields(thread).id,
  attach: (threadId) => ["thread/attach", { threadId }],
  prompt: (threadId, text) => ["turn/start", { threadId, input: textInput(text) }],
  promptLasts: false,
  turnEnd: '"method":"turn/completed"',
  isQuestion: ({ method }) => method === "item/commandExecution/requestApproval",
  answer: (_question, isYes) => ({ result: { decision: isYes ? "accept" : "decline" } }),
  isWithdrawal: ({ method, params }, question) =>
    method === "approval/resolved" && fields(params).approvalId === fields(question.params).approvalId,
};

/** The words of every door. */
export const DOOR_WORDS: Readonly<Record<FrontendName, DoorWords>> = {
  flint: FLINT_WORDS,
  codex: {
    ...FLINT_WORDS,
    hello: ["initialize", { clientInfo: CLIENT_INFO, capabilities: { experimentalApi: true } }],
    attach: (threadId) => ["thread/resume", { threadId }],
    isWithdrawal: ({ method, params }, { id }) =>
      method === "serverRequest/resolved" && fields(params).requestId === id,
  },
  acp: {
    header: true,
    hello: ["initialize", { protocolVersion: 1, clientCapabilities: {}, clientInfo: CLIENT_INFO }],
    begin: (cwd) => ["session/new", { cwd, mcpServers: [] }],
    idOf: ({ sessionId }) => sessionId,
    attach: (sessionId, cwd) => ["session/load", { sessionId, cwd, mcpServers: [] }],
    prompt: (sessionId, text) => ["session/prompt", { sessionId, prompt: textInput(text) }],
    promptLasts: true,
    turnEnd: '"stopReason":',
    isQuestion: ({ method }) => method === "session/request_permission",
    answer: (_question, isYes) => {
      const optionId = isYes ? "allow_once" : "reject_once";
      return { result: { outcome: { outcome: "selected", optionId } } };
    },
    isWithdrawal: ({ method, params }, { id }) =>
      method === "$/cancel_request" && fields(params).requestId === id,
  },
  harness: {
    header: true,
    hello: ["initialize", { clientInfo: CLIENT_INFO }],
    begin: (directory) => ["thread.create", { directory }],
    idOf: ({ thread }) => fields(thread).threadId,
    attach: (threadId) => ["thread.get", { threadId }],
    prompt: (threadId, text) => ["turn.start", { threadId, input: textInput(text) }],
    promptLasts: false,
    turnEnd: '"method":"turn.completed"',
    isQuestion: ({ method }) => method === "approval.requested",
    answer: ({ params }, isYes) => {
      const decision = isYes ? "once" : "reject";
      return { call: ["approval.respond", { requestId: fields(params).requestId, decision }] };
    },
    isWithdrawal: ({ method, params }, question) => {
      const { type, data } = fields(fields(params).item);
      const isEnd = method === "item.completed" && type === "approval";
      return isEnd && fields(data).requestId === fields(question.params).requestId;
    },
  },
};
