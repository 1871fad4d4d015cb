export { commandEnvironment, type Environment, isSecretName, secretsIn } from "./environment.ts";
export { RedactedStream } from "./redacted-stream.ts";
export { Redactor, redact } from "./redactor.ts";
