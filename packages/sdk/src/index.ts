export { AppServerClient, type CallOptions, type ClientOptions } from "./client/app-server-client.ts";
export type {
  ApprovalChoice,
  ApprovalReply,
  AskContext,
  OnApproval,
  OnQuestion,
  OnToolCall,
  QuestionReply,
} from "./client/asks.ts";
export { FlintClient } from "./client/flint-client.ts";
export type { MethodArguments, MethodSurface } from "./client/method-surface.ts";
export type { ApprovalRequest, ToolCall, UserInputRequest } from "./client/read-ask.ts";
export type { OnWarning, Warning } from "./client/warning.ts";
export {
  CLIENT_INFO,
  type ClientConnectOptions,
  type ConnectOptions,
  connect,
  type ServerLocation,
} from "./connect.ts";
export {
  ConversationAdapter,
  type ConversationAdapterOptions,
  type ConversationContext,
} from "./conversation/adapter.ts";
export {
  type ConversationMap,
  FileConversationMap,
  MemoryConversationMap,
} from "./conversation/conversation-map.ts";
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
export type { EventListener } from "./events/event-hub.ts";
export { BUFFER_LIMITS, type BufferLimits, EventStream } from "./events/event-stream.ts";
export { type RunOptions, type ThreadCursor, ThreadHandle } from "./thread/thread-handle.ts";
export type { Input, TurnOptions, TurnResult } from "./thread/turn-run.ts";
export { TurnStream } from "./thread/turn-stream.ts";
export { type Endpoint, externalEndpoint } from "./transport/endpoint.ts";
export { readRunningServer } from "./transport/running-server.ts";
export type {
  HomeLocation,
  SocketLocation,
  UrlLocation,
  WebSocketConstructor,
} from "./transport/server-location.ts";
export { clearTextRefusal, isLoopback } from "./transport/server-location.ts";
export { rendezvousTransport, socketTransport } from "./transport/socket-transport.ts";
export { type DetachedOptions, type SpawnOptions, spawnDetached, spawnServer } from "./transport/spawn.ts";
export { type WebSocketLike, webSocketTransport } from "./transport/web-socket-transport.ts";
