export {
  ConversationAdapter,
  type ConversationAdapterOptions,
  type ConversationContext,
} from "./adapter.ts";
export type { AgentEvent, KnownEvent, UnknownEvent } from "./agent-event.ts";
export { AppServerClient, type CallOptions, type ClientOptions } from "./app-server-client.ts";
export type {
  ApprovalReply,
  ApprovalWord,
  AskContext,
  OnApproval,
  OnQuestion,
  OnToolCall,
  QuestionReply,
} from "./asks.ts";
export {
  CLIENT_INFO,
  type ConnectOptions,
  connect,
  type GuestOptions,
  type ServerPlace,
} from "./connect.ts";
export { type ConversationMap, FileConversationMap, MemoryConversationMap } from "./conversation-map.ts";
export { describeEvent } from "./describe-event.ts";
export { borrowedEndpoint, type Endpoint } from "./endpoint.ts";
export {
  type ConnectionFailure,
  EventsLaggedError,
  FlintConnectionError,
  FlintRequestError,
  TurnFailedError,
  type TurnFailure,
} from "./errors.ts";
export type { EventListener } from "./event-hub.ts";
export { BUFFER_LIMITS, type BufferLimits, EventStream } from "./event-stream.ts";
export { FlintClient } from "./flint-client.ts";
export { clearTextReason, isLoopback } from "./local-address.ts";
export { meetingTransport } from "./meeting-transport.ts";
export type { MethodArguments, MethodSurface } from "./method-surface.ts";
export type { HomePlace, SocketPlace, UrlPlace, WebSocketMaker } from "./place.ts";
export type { ApprovalRequest, ToolCall, UserInputRequest } from "./read-ask.ts";
export { readRunning } from "./running-server.ts";
export { socketTransport } from "./socket-transport.ts";
export { type DetachedOptions, type SpawnOptions, spawnDetached, spawnServer } from "./spawn.ts";
export { type RunOptions, type ThreadCursor, ThreadHandle } from "./thread-handle.ts";
export type { Input, TurnOptions, TurnResult } from "./turn-run.ts";
export { TurnStream } from "./turn-stream.ts";
export type { OnWarning, Warning } from "./warning.ts";
export { type WebSocketLike, webSocketTransport } from "./web-socket-transport.ts";
