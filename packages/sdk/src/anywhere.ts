// The part of the SDK that runs in Node and in browsers; both entries export it.

export type { Transport } from "@flint/rpc";
export {
  AppServerClient,
  type CallOptions,
  type ClientOptions,
  type Endpoint,
  externalEndpoint,
} from "./client/app-server-client.ts";
export type {
  ApprovalChoice,
  ApprovalReply,
  AskContext,
  OnApproval,
  OnQuestion,
  OnToolCall,
  QuestionReply,
} from "./client/asks.ts";
export type { MethodArguments, MethodSurface } from "./client/flint-client.ts";
export { CLIENT_INFO, type ClientConnectOptions, FlintClient } from "./client/flint-client.ts";
export type { ApprovalRequest, ToolCall, UserInputRequest } from "./client/read-ask.ts";
export {
  ConversationAdapter,
  type ConversationAdapterOptions,
  type ConversationContext,
  type ConversationMap,
  MemoryConversationMap,
} from "./conversation/adapter.ts";
export type { OnWarning, Warning } from "./errors.ts";
export {
  type ConnectionFailure,
  EventsLaggedError,
  FlintConnectionError,
  FlintRequestError,
  TurnFailedError,
  type TurnFailure,
} from "./errors.ts";
export type { AgentEvent, KnownEvent, UnknownEvent } from "./events/agent-event.ts";
export { describeEvent } from "./events/describe-event.ts";
export type { EventListener } from "./events/event-stream.ts";
export { BUFFER_LIMITS, type BufferLimits, EventStream } from "./events/event-stream.ts";
export { SEARCHED_THREADS, type SearchOptions, searchThreads } from "./thread/search-threads.ts";
export { type RunOptions, type ThreadCursor, ThreadHandle } from "./thread/thread-handle.ts";
export type { Input, TurnOptions, TurnResult } from "./thread/turn-run.ts";
export { TurnStream } from "./thread/turn-run.ts";
export { type WebSocketLike, webSocketTransport } from "./transport/web-socket-transport.ts";
