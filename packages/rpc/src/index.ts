export {
  type BadMessage,
  decode,
  type Envelope,
  encodeError,
  encodeNotification,
  encodeNotificationRaw,
  encodeRequest,
  encodeResult,
  encodeResultRaw,
  type Incoming,
  type Reading,
  type RpcError,
} from "./codec.ts";
export { ExactNumber, type Id, idText, type Json } from "./id.ts";
export { JSON_LIMITS } from "./json-text.ts";
export { type LineFault, LineReader, type LineReaderOptions } from "./lines.ts";
export { Outbox, type OutboxOptions, type Sink } from "./outbox.ts";
export { Peer, type PeerFault, type PeerHandlers, type PeerOptions } from "./peer.ts";
export { PeerClosedError, PeerTimeoutError, RemoteError } from "./peer-errors.ts";
export type { RequestOptions } from "./pending-requests.ts";
export { StderrTail, type StderrTailOptions } from "./stderr-tail.ts";
export { cappedTrace, type Trace, type TraceCaps } from "./trace.ts";
export { memoryPair } from "./transports/memory.ts";
export { stdioTransport } from "./transports/stdio.ts";
export { streamTransport, type WriterOptions } from "./transports/streams.ts";
export type { Receiver, Transport } from "./transports/transport.ts";
export { WrappedTransport } from "./transports/wrapped.ts";
