import type { ClientScript, Fields } from "@flint/testkit";

export type { Call, ClientScript, Fields } from "@flint/testkit";

const CLIENT_INFO = { name: "test", version: "1" };
const textInput = (text: string) => [{ type: "text", text }];

/** Any value as an object that can be looked into. */
export function fields(value: unknown): Fields {
  return Object(value);
}

const FLINT_CLIENT: ClientScript = {
  header: false,
  initialize: ["initialize", { clientInfo: CLIENT_INFO }],
  startThread: (cwd) => ["thread/start", { cwd }],
  threadIdOf: ({ thread }) => fields(thread).id,
  attach: (threadId) => ["thread/attach", { threadId }],
  prompt: (threadId, text) => ["turn/start", { threadId, input: textInput(text) }],
  answersAtEnd: false,
  turnEnd: '"method":"turn/completed"',
  isApproval: ({ method }) => method === "item/commandExecution/requestApproval",
  answer: (_approval, isAllowed) => ({ result: { decision: isAllowed ? "accept" : "decline" } }),
  listBackground: (threadId) => ["thread/backgroundCommands/list", { threadId }],
  stopBackground: (threadId, processId) => ["thread/backgroundCommands/stop", { threadId, processId }],
  isWithdrawal: ({ method, params }, approval) =>
    method === "approval/resolved" && fields(params).approvalId === fields(approval.params).approvalId,
};

/** Scripts of what a client of each front end sends and receives. */
export const CLIENT_SCRIPTS = {
  flint: FLINT_CLIENT,
  codex: {
    ...FLINT_CLIENT,
    initialize: ["initialize", { clientInfo: CLIENT_INFO, capabilities: { experimentalApi: true } }],
    attach: (threadId) => ["thread/resume", { threadId }],
    listBackground: (threadId) => ["thread/backgroundTerminals/list", { threadId }],
    stopBackground: (threadId, processId) => [
      "thread/backgroundTerminals/terminate",
      { threadId, processId },
    ],
    isWithdrawal: ({ method, params }, { id }) =>
      method === "serverRequest/resolved" && fields(params).requestId === id,
  },
  acp: {
    header: true,
    initialize: ["initialize", { protocolVersion: 1, clientCapabilities: {}, clientInfo: CLIENT_INFO }],
    startThread: (cwd) => ["session/new", { cwd, mcpServers: [] }],
    threadIdOf: ({ sessionId }) => sessionId,
    attach: (sessionId, cwd) => ["session/load", { sessionId, cwd, mcpServers: [] }],
    prompt: (sessionId, text) => ["session/prompt", { sessionId, prompt: textInput(text) }],
    answersAtEnd: true,
    turnEnd: '"stopReason":',
    isApproval: ({ method }) => method === "session/request_permission",
    answer: (_approval, isAllowed) => {
      const optionId = isAllowed ? "allow_once" : "reject_once";
      return { result: { outcome: { outcome: "selected", optionId } } };
    },
    listBackground: (sessionId) => ["session/prompt", { sessionId, prompt: textInput("/ps") }],
    stopBackground: (sessionId, processId) => [
      "session/prompt",
      { sessionId, prompt: textInput(`/stop ${processId}`) },
    ],
    isWithdrawal: ({ method, params }, { id }) =>
      method === "$/cancel_request" && fields(params).requestId === id,
  },
  harness: {
    header: true,
    initialize: ["initialize", { clientInfo: CLIENT_INFO }],
    startThread: (directory) => ["thread.create", { directory }],
    threadIdOf: ({ thread }) => fields(thread).threadId,
    attach: (threadId) => ["thread.get", { threadId }],
    prompt: (threadId, text) => ["turn.start", { threadId, input: textInput(text) }],
    answersAtEnd: false,
    turnEnd: '"method":"turn.completed"',
    isApproval: ({ method }) => method === "approval.requested",
    answer: ({ params }, isAllowed) => {
      const decision = isAllowed ? "once" : "reject";
      return { call: ["approval.respond", { requestId: fields(params).requestId, decision }] };
    },
    listBackground: (threadId) => ["background.list", { threadId }],
    stopBackground: (threadId, processId) => ["background.stop", { threadId, processId }],
    isWithdrawal: ({ method, params }, approval) => {
      const { type, data } = fields(fields(params).item);
      const isEnd = method === "item.completed" && type === "approval";
      return isEnd && fields(data).requestId === fields(approval.params).requestId;
    },
  },
} as const satisfies Readonly<Record<string, ClientScript>>;
