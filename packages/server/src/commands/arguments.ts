import { type ParseArgsConfig, parseArgs } from "node:util";
import { ApprovalPolicy, type SandboxPolicy, SandboxShorthand, sandboxPolicyOf } from "@flint/protocol";
import type { Durability, ServerOptions } from "../compose.ts";

/** A mistake on the command line. The message says what is wrong and what would be right; the exit code is 2. */
export class UsageError extends Error {
  constructor(message: string) {
    super(message);
    this.name = "UsageError";
  }
}

/** The options that every command with a server of its own takes. */
export const SERVER_FLAGS = {
  cwd: { type: "string" },
  model: { type: "string" },
  approval: { type: "string" },
  sandbox: { type: "string" },
  durability: { type: "string" },
  "approval-timeout": { type: "string" },
  "allow-unconfined": { type: "boolean" },
  help: { type: "boolean", short: "h" },
} as const satisfies ParseArgsConfig["options"];

/** Reads options and positionals; unknown options are an error that names them. */
export function readArguments<Flags extends NonNullable<ParseArgsConfig["options"]>>(
  args: readonly string[],
  options: Flags,
) {
  try {
    return parseArgs({ args: [...args], options, allowPositionals: true, strict: true });
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error));
  }
}

/** What `readArguments` found for the options that belong to the server. */
export interface ServerFlagValues {
  readonly cwd?: string | undefined;
  readonly model?: string | undefined;
  readonly approval?: string | undefined;
  readonly sandbox?: string | undefined;
  readonly durability?: string | undefined;
  readonly "approval-timeout"?: string | undefined;
  readonly "allow-unconfined"?: boolean | undefined;
}

/** The server that these options ask for. */
export function serverOptions(values: ServerFlagValues): ServerOptions {
  return {
    cwd: values.cwd,
    model: values.model,
    approvalPolicy: values.approval === undefined ? undefined : approvalPolicy(values.approval),
    sandboxPolicy: values.sandbox === undefined ? undefined : sandboxPolicy(values.sandbox),
    durability: values.durability === undefined ? undefined : durability(values.durability),
    approvalTimeoutMs: seconds(values["approval-timeout"]),
    allowUnconfined: values["allow-unconfined"],
  };
}

function approvalPolicy(text: string): ApprovalPolicy {
  const parsed = ApprovalPolicy.safeParse(text);
  if (parsed.success) return parsed.data;
  throw new UsageError(`--approval takes ${ApprovalPolicy.options.join(", ")}; not ${JSON.stringify(text)}.`);
}

function sandboxPolicy(text: string): SandboxPolicy {
  const parsed = SandboxShorthand.safeParse(text);
  if (parsed.success) return sandboxPolicyOf(parsed.data);
  const known = SandboxShorthand.options.filter((name) => name.includes("-"));
  throw new UsageError(`--sandbox takes ${known.join(", ")}; not ${JSON.stringify(text)}.`);
}

function durability(text: string): Durability {
  if (text === "full" || text === "relaxed") return text;
  throw new UsageError(`--durability takes full or relaxed; not ${JSON.stringify(text)}.`);
}

function seconds(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const value = Number(text);
  if (Number.isFinite(value) && value > 0) return value * 1000;
  throw new UsageError(`--approval-timeout takes a number of seconds above 0; not ${JSON.stringify(text)}.`);
}
