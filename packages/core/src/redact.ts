export { RedactedStream } from "./redact/redacted-stream.ts";
export { Redactor, redact } from "./redact/redactor.ts";
