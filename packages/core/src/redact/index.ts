export {
  commandEnvironment,
  type Environment,
  isSecretName,
  mcpServerSecrets,
  secretsIn,
} from "./environment.ts";
export { RedactedStream, Redactor, redact } from "./redactor.ts";
