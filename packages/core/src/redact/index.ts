export {
  commandEnvironment,
  type Environment,
  isSecretName,
  mcpServerSecrets,
  secretsIn,
} from "./environment.ts";
export { RedactedStream } from "./redacted-stream.ts";
export { Redactor, redact } from "./redactor.ts";
