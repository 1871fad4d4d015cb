import {
  errorMessage,
  isKnownItem,
  isRecord,
  type RunUsage,
  type TurnError,
  type TurnReference,
} from "@flint/protocol";
import { type AgentEvent, FlintConnectionError, FlintRequestError, type TurnResult } from "@flint/sdk";
import type { Interruption } from "../decide/outcomes.ts";
import type { ExecutorCommits } from "./task-workspaces.ts";

/** The outcome of a turn. */
export type RoleTurnOutcome = { readonly usage: RunUsage; readonly turn?: TurnReference } & (
  | {
      readonly kind: "answered";
      readonly turn: TurnReference;
      readonly text: string;
      /** Commits that the agent made itself. */
      readonly commits?: ExecutorCommits | undefined;
    }
  | Interruption
);

/** A turn that ended with an answer. */
export type AnsweredTurn = Extract<RoleTurnOutcome, { kind: "answered" }>;

type Ended =
  | Interruption
  | { readonly kind: "answered"; readonly turn: TurnReference; readonly text: string };

/** The outcome of a turn that has ended. */
export function outcomeOf(
  { status, text, turn: { error } }: Pick<TurnResult, "status" | "text" | "turn">,
  turn: TurnReference,
  signal: AbortSignal,
): Ended {
  // An answer in another form is still one: the work is done, and a verdict can be asked for again.
  if (status === "completed" || error?.errorInfo === "SchemaMismatch")
    return { kind: "answered", turn, text };
  if (signal.aborted || error?.errorInfo === "ServerStopped")
    return { kind: "stopped", message: "The run was stopped." };
  if (status === "interrupted")
    return { kind: "interrupted", message: "The turn was interrupted in its thread." };
  return failureOf(error);
}

function failureOf(error: TurnError | undefined): Interruption {
  const message = error?.message ?? "The turn failed without a reason.";
  if (error?.limit?.status === "reached") return { kind: "limit", limit: error.limit };
  if (error?.errorInfo === "StorageFailed") return { kind: "unstored", message };
  if (error?.errorInfo === "Unauthorized") return { kind: "needsUser", message };
  if (error?.errorInfo === "BudgetExceeded") return { kind: "budget", message };
  const mayPass = error?.errorInfo === "InternalServerError";
  const overloaded = error?.httpStatusCode === 429 || (error?.httpStatusCode ?? 0) >= 500;
  return mayPass || overloaded ? { kind: "overload", message } : { kind: "failed", message };
}

/** The outcome of a turn that could not be carried out. */
export function problemOf(thrown: unknown, signal: AbortSignal): Interruption {
  if (signal.aborted) return { kind: "stopped", message: "The run was stopped." };
  const message = errorMessage(thrown);
  if (thrown instanceof FlintRequestError && thrown.kind === "storageFailed")
    return { kind: "unstored", message };
  // Another agent may report what this one does not; else the user has to decide.
  if (thrown instanceof FlintRequestError && thrown.data.field === "budget")
    return { kind: "needsUser", message };
  return thrown instanceof FlintConnectionError ? { kind: "overload", message } : { kind: "failed", message };
}

/** The commits of a turn that were kept, by what HEAD of the agent names. */
export function ownCommits(event: AgentEvent): ExecutorCommits | undefined {
  if (event.type !== "item/completed") return undefined;
  const { threadId, item } = event.data;
  if (!isKnownItem(item) || item.type !== "toolCall" || item.tool !== "git" || item.status !== "declined")
    return undefined;
  const refs = isRecord(item.arguments) && Array.isArray(item.arguments.refs) ? item.arguments.refs : [];
  const head = refs.find(
    (ref: unknown) => isRecord(ref) && ref.change === "switched" && ref.submodule === undefined,
  );
  return isRecord(head) && typeof head.name === "string" ? { threadId, name: head.name } : undefined;
}
