export * from "./anywhere.ts";
export { type ConnectOptions, connect, type ServerLocation } from "./connect.ts";
export { FileConversationMap } from "./conversation/file-conversation-map.ts";
export type {
  HomeLocation,
  SocketLocation,
  UrlLocation,
  WebSocketConstructor,
} from "./transport/server-location.ts";
export { clearTextRefusal, isLoopback, readRunningServer } from "./transport/server-location.ts";
export { rendezvousTransport, socketTransport } from "./transport/socket-transport.ts";
export { type DetachedOptions, type SpawnOptions, spawnDetached, spawnServer } from "./transport/spawn.ts";
