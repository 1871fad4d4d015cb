export { StderrTail, type StderrTailOptions } from "./stderr-tail.ts";
export { stdioTransport, streamTransport, type WriterOptions } from "./streams.ts";
