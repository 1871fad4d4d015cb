import type { SandboxPolicy } from "@flint/protocol";
import { isConfined } from "../../shared/confined.ts";

/** Which of Claude's own sessions a process works on. */
export interface NativeSession {
  readonly id: string;
  /** Whether Claude knows it from an earlier time. */
  readonly isKnown: boolean;
  /** Another session that it begins as a copy of. */
  readonly forkOf?: string | undefined;
  /** The last message of that session that the copy has; all of them unless given. */
  readonly forkAt?: string | undefined;
}

/** What a process of Claude is started with. */
export interface ClaudeStart {
  readonly session: NativeSession;
  /** Claude's name for the model; undefined leaves the choice to Claude. */
  readonly model: string | undefined;
  readonly policy: SandboxPolicy;
  /** What Claude is told beside its own instructions. */
  readonly instructions: string;
}

const ALWAYS = [
  ...["-p", "--verbose", "--input-format", "stream-json", "--output-format", "stream-json"],
  ...["--include-partial-messages", "--replay-user-messages", "--permission-prompt-tool", "stdio"],
  // Whatever the user's settings say, nothing is allowed beforehand: Flint's policy decides.
  ...["--permission-mode", "default"],
  // Files of the workspace could bring hooks and servers, which would run without anybody's trust.
  ...["--setting-sources", "user", "--strict-mcp-config"],
];

/** The arguments of a long-lived process that is talked to in lines. */
export function claudeArguments({ session, model, policy, instructions }: ClaudeStart): string[] {
  return [
    ...ALWAYS,
    ...sessionArguments(session),
    ...(model === undefined ? [] : ["--model", model]),
    ...(instructions === "" ? [] : ["--append-system-prompt", instructions]),
    // A sandbox in a sandbox does not work; the outer one holds for everything that Claude does.
    ...(isConfined(policy) ? ["--settings", JSON.stringify({ sandbox: { enabled: false } })] : []),
  ];
}

/** A copy is told the id it gets, so that it can be named before Claude says a word. */
function sessionArguments({ id, isKnown, forkOf, forkAt }: NativeSession): string[] {
  if (isKnown) return ["--resume", id];
  const copied = forkOf === undefined ? [] : ["--resume", forkOf, "--fork-session"];
  const upTo = forkAt === undefined ? [] : ["--resume-session-at", forkAt];
  return [...copied, ...upTo, "--session-id", id];
}
