export {
  type BadMessage,
  decode,
  type Envelope,
  ExactNumber,
  encodeError,
  encodeNotification,
  encodeNotificationRaw,
  encodeRequest,
  encodeResult,
  encodeResultRaw,
  type Id,
  type Incoming,
  idText,
  type Json,
  type Reading,
  type RpcError,
} from "./codec.ts";
export { dropPrototypeKeys, findExcess, JSON_LIMITS } from "./json-text.ts";
export { type LineFault, LineReader, type LineReaderOptions } from "./lines.ts";
export { Outbox, type OutboxOptions, type Sink } from "./outbox.ts";
export {
  cappedTrace,
  Peer,
  type PeerFault,
  type PeerHandlers,
  type PeerOptions,
  type Trace,
  type TraceCaps,
} from "./peer.ts";
export type { RequestOptions } from "./pending-requests.ts";
export { PeerClosedError, PeerTimeoutError, RemoteError } from "./pending-requests.ts";
export type { Receiver, Transport } from "./transport.ts";
export { memoryPair, WrappedTransport } from "./transport.ts";
