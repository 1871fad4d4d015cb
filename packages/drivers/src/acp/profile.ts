import { ALL_CAPABILITIES } from "@flint/core/ports";
import type { AgentDescriptor } from "../shared/agent.ts";
import type { AgentFolder } from "../shared/folders/agent-folders.ts";
import { unknownProject } from "../shared/folders/project-files.ts";
import type { AgentKeys } from "../shared/keys/agent-keys.ts";

/** Environment variables. */
export type Variables = Readonly<Record<string, string>>;

/** The particulars of one ACP agent, as data: its descriptor, and its deviations from the protocol. */
export interface AcpProfile extends AgentDescriptor {
  /** The folders of its settings, sessions and login; derived from its name if absent. */
  readonly folders: readonly AgentFolder[] | undefined;
  /** Time within which it must open a session. */
  readonly startMs: number;
  /** Time within which it must cancel a turn before its process is stopped. */
  readonly cancelMs: number;
  /** True if it is offered to read and write files through Flint. Its requests are answered in any case. */
  readonly offersFiles: boolean;
  /** True if it may run commands through Flint. */
  readonly offersTerminals: boolean;
  /** True if it may end the turn as cancelled when one call is rejected. */
  readonly rejectionCancelsTurn: boolean;
  /**
   * True if its process takes no further prompt after a cancelled turn; the session then continues in another
   * one.
   */
  readonly cancelEndsProcess: boolean;
  /** True if its diffs have only the lines that change, not the whole file. */
  readonly sendsPartialDiffs: boolean;
  /** Modes in which it acts without asking; refused where the approval policy is to ask about everything. */
  readonly autonomousModes: readonly string[];
  /** The modes that it is known to have, until it reports them itself. */
  readonly modes: readonly { readonly id: string; readonly name: string }[];
  /** Variables that make it ignore what in the project steers it, until that is trusted. */
  readonly untrustedVariables: Variables;
  /** Variables that make it ask. */
  readonly askVariables: Variables;
  /** Variables instead of those where the approval policy is "never". */
  readonly neverAskVariables: Variables;
  /** The login method that needs no user, if the agent was given this variable. */
  readonly apiKeyLogin: { readonly methodId: string; readonly variable: string } | undefined;
  /** Variables that make it work on the offline model at an address, with its state in a folder; absent if it cannot. */
  readonly offlineVariables: ((address: string, folder: string) => Variables) | undefined;
  /** Contents of that folder, by file name. */
  readonly offlineFiles: Readonly<Record<string, string>>;
  /** The keys in its variables that it does not get itself; absent if it has to have them. */
  readonly keys?: (command: readonly string[], environment: Variables) => Promise<AgentKeys | undefined>;
  /** Further variables where it runs in Flint's sandbox, made from those that it has and whether it asks. */
  readonly sandboxedVariables: ((given: Variables, asks: boolean) => Variables) | undefined;
}

/** An agent about which nothing is known. */
export const GENERIC: AcpProfile = {
  id: "generic",
  displayName: "The agent",
  provider: "generic",
  // The turns show which part of it the agent uses; the protocol has all of it.
  capabilities: ALL_CAPABILITIES,
  command: [],
  ownVariables: /^$/,
  // The agent itself reports missing credentials when a session is opened.
  credentials: { variables: [], files: [] },
  install: undefined,
  login: undefined,
  // The protocol leaves it to the agent when it asks.
  asksToWrite: false,
  // The protocol leaves it to the agent what it reports.
  usageReports: { tokens: "never", steps: "never", costUsd: "never" },
  hosts: [],
  passedSettings: [],
  project: unknownProject(""),
  stopsWhenIdle: false,
  folders: undefined,
  startMs: 60_000,
  cancelMs: 750,
  offersFiles: false,
  offersTerminals: false,
  rejectionCancelsTurn: true,
  cancelEndsProcess: false,
  sendsPartialDiffs: false,
  autonomousModes: [],
  modes: [],
  untrustedVariables: {},
  askVariables: {},
  neverAskVariables: {},
  apiKeyLogin: undefined,
  offlineVariables: undefined,
  offlineFiles: {},
  sandboxedVariables: undefined,
};
