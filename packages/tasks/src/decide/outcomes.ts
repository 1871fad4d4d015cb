import type {
  CheckResult,
  Contest,
  RunUsage,
  TaskAsk,
  TurnReference,
  UsageLimit,
  Verdict,
} from "@flint/protocol";

/** The outcome of a turn of a role without a result. */
export type Interruption =
  /** The account has met a usage limit. */
  | { readonly kind: "limit"; readonly limit: UsageLimit }
  /** It may work later: an overload, the network, a start that failed. */
  | { readonly kind: "overload"; readonly message: string }
  /** The agent asked and got no answer in time; the question stays open in its thread. */
  | {
      readonly kind: "asks";
      readonly reason: "approval" | "question";
      readonly message: string;
      readonly request?: TaskAsk["request"];
      readonly threadId: string;
    }
  | { readonly kind: "budget"; readonly message: string }
  /** The run or its server stops; the next run continues. */
  | { readonly kind: "stopped"; readonly message: string }
  /** The turn was interrupted in its thread, by a client or by the agent itself. */
  | { readonly kind: "interrupted"; readonly message: string }
  /** Only the user can do something about it, such as log in. */
  | { readonly kind: "needsUser"; readonly message: string }
  /** The work could not be stored, such as on a full disk; another agent would fail as well. */
  | { readonly kind: "unstored"; readonly message: string }
  | { readonly kind: "failed"; readonly message: string };

/** The outcome of the executor's turn. */
export type ExecuteOutcome = { readonly usage: RunUsage; readonly turn?: TurnReference } & (
  | {
      readonly kind: "completed";
      readonly turn: TurnReference;
      readonly commit: string | null;
      readonly tree: string | null;
      /** True if the tree differs from the one before the turn. */
      readonly changed: boolean;
      /** The files that tools run or obey and the result changes. */
      readonly protectedPaths?: readonly string[];
      readonly summary?: string;
      readonly contested: readonly Contest[];
    }
  | Interruption
);

/** The outcome of a reviewer's turn. */
export type ReviewOutcome = { readonly usage: RunUsage; readonly turn?: TurnReference } & (
  | { readonly kind: "judged"; readonly verdict: Verdict; readonly onChangedLines: ReadonlySet<number> }
  | Interruption
);

/** The outcome of the checks. `unable`: they could not be run at all. */
export type CheckOutcome =
  | { readonly kind: "ran"; readonly results: readonly CheckResult[] }
  | { readonly kind: "unable"; readonly message: string };

/** The outcome of preparing the folder of an attempt. */
export type PrepareOutcome =
  | {
      readonly kind: "prepared";
      readonly base: string | null;
      readonly folder: string;
      /** The ignored files that were copied from the user's checkout. */
      readonly included?: readonly string[];
      /** Notices for the user about it. */
      readonly notices?: readonly string[];
    }
  | { readonly kind: "unable"; readonly message: string; readonly mayPass: boolean };

/** The outcome of the merge. */
export type MergeOutcome =
  | {
      readonly kind: "merged";
      readonly ref: string;
      readonly commit: string | null;
      readonly url?: string;
      readonly patch?: string;
      readonly note?: string;
    }
  | { readonly kind: "conflict"; readonly files: readonly string[]; readonly onto: string }
  | { readonly kind: "checksFailed"; readonly results: readonly CheckResult[] }
  | { readonly kind: "unable"; readonly message: string; readonly mayPass: boolean };
