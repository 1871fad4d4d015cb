import type { Driver, DriverSession, Sandbox } from "@flint/core/ports";
import { mintId, type ThreadSettings, type Turn } from "@flint/protocol";
import type { RecordingTurn } from "./recording-turn.ts";

/** The prompts that make an agent behave in a certain way. */
export interface DriverPrompts {
  /** It answers with some text and ends. */
  readonly text: string;
  /** It does one thing that it asks to be allowed, then ends. */
  readonly tool: string;
  /** It streams text until it is stopped. */
  readonly stream: string;
  /** It does something that it asks to be allowed and that lasts until it is stopped. */
  readonly longTool: string;
  /** The turn fails. */
  readonly failure: string;
  /** It waits for further input, then ends. Needed exactly if its sessions can be steered. */
  readonly steer?: string;
}

/** Removes what was made for checks. */
export type CleanUp = () => Promise<void> | void;

/** A driver with what the suite needs to try it. */
export interface DriverUnderTest {
  readonly driver: Driver;
  readonly settings: ThreadSettings;
  readonly prompts: DriverPrompts;
  /** Given to its sessions; one that refuses every command by default. */
  readonly sandbox?: Sandbox;
  /** Reports whether the action of the `tool` prompt was done, by its effect. */
  readonly toolRan?: () => boolean | Promise<boolean>;
  /** Undoes what the prompts did to the workspace. Needed by checks that share a session. */
  readonly undo?: () => Promise<void>;
  /** Gives the session of a check that asks for nothing special; a new one by default. */
  readonly openSession?: () => Promise<DriverSession>;
  /** Time within which it must stop. */
  readonly stopsWithinMs?: number;
  /** The timeout of any of the turns. */
  readonly turnWithinMs?: number;
  /** Further features; without them their checks are shown as skipped. */
  readonly features?: DriverFeatures;
}

/** The reason a driver cannot be tried in one respect; shown where its check is skipped. */
export interface Absent {
  readonly absent: string;
}

/** Says that a driver gives no such thing, and why. */
export function unsupported(why: string): Absent {
  return { absent: why };
}

/** The ways in which a model can fail its agent. */
export const MODEL_FAILURES = ["badRequest", "rateLimit", "overloaded", "cutStream"] as const;
export type ModelFailureKind = (typeof MODEL_FAILURES)[number];

/**
 * The features of every driver, each with what is needed to try it. An agent that lacks one has to give a
 * reason.
 */
export interface DriverFeatures {
  /** The same agent as a new process of Flint finds it. */
  again(): Driver | Promise<Driver>;
  readonly fileChange: FileChangeTrial | Absent;
  readonly sessionApproval: SessionApprovalTrial | Absent;
  readonly steering: SteeringTrial | Absent;
  readonly recall: RecallTrial | Absent;
  readonly fork: ForkTrial | Absent;
  readonly otherModel: OtherModelTrial | Absent;
  /** The ids of the selectors that the model of the settings has at least. */
  readonly selectors: readonly string[] | Absent;
  /** Makes the model fail in this way, and gives the prompt that meets the failure. */
  readonly failing: ((kind: ModelFailureKind) => Promise<string | Absent>) | Absent;
  /** The processes of the agent in which a turn runs now. */
  readonly processes: (() => readonly number[]) | Absent;
}

/** A prompt that makes the agent ask to change one file, and then change it. */
export interface FileChangeTrial {
  readonly prompt: string;
  /** From the folder of the settings. */
  readonly path: string;
  /** The text before, put there by the suite; undefined if there is no such file. */
  readonly before: string | undefined;
  readonly after: string;
}

/** The handling of a yes for the whole session. */
export interface SessionApprovalTrial {
  /**
   * Handling of the same action later: it is asked again, for the core to answer by its grant, or the agent
   * itself keeps the yes.
   */
  readonly sameAgain: "asksAgain" | "keepsIt";
  /** It does one other thing that it asks to be allowed, then ends. */
  readonly otherTool: string;
}

/** The input sent while the `steer` prompt runs, and the sign of its answer. */
export interface SteeringTrial {
  readonly more: string;
  readonly says: RegExp;
}

/** The question that shows whether the `text` prompt is remembered, and the sign of that in the answer. */
export interface RecallTrial {
  readonly ask: string;
  readonly says: RegExp;
}

/** The prompt of a fork, and a question that shows which session has seen it. */
export interface ForkTrial {
  /** The prompt of the fork. */
  readonly prompt: string;
  readonly ask: string;
  /** Matches the answer of a session that has seen the `text` prompt. */
  readonly knowsBefore: RegExp;
  /** Matches the answer of a session that has seen the prompt of the fork. */
  readonly knowsPrompt: RegExp;
  /** True if a copy of its session can be made that ends with an earlier turn. */
  readonly atAnyTurn: boolean;
}

/** Another model for one turn. */
export interface OtherModelTrial {
  readonly model: string;
  /** Reports whether the latest turn was done with it. */
  used(): boolean | Promise<boolean>;
}

/** A check that cannot be made; the message says why. */
export class NotSupported extends Error {}

/** All that a driver gives; throws if it said nothing of that. */
export function allFeatures({ features: entries }: DriverUnderTest): DriverFeatures {
  if (entries === undefined) throw new NotSupported("describeDriver was given no `features` for this driver");
  return entries;
}

/** The feature that a check needs; throws the reason if the driver lacks it. */
export function feature<Name extends keyof DriverFeatures>(
  under: DriverUnderTest,
  name: Name,
): Exclude<DriverFeatures[Name], Absent> {
  const entry: DriverFeatures[Name] = allFeatures(under)[name];
  if (isAbsent(entry)) throw new NotSupported(entry.absent);
  // What is not absent is what is left of the union; the compiler cannot follow it through a name.
  return entry as Exclude<DriverFeatures[Name], Absent>;
}

function isAbsent(entry: object): entry is Absent {
  return "absent" in entry;
}

/** A turn as the core would have stored it. */
export function asStored(turn: RecordingTurn): Turn {
  const asked = { type: "userMessage" as const, id: mintId(), content: [...turn.input] };
  return { id: turn.turnId, status: "completed", items: [asked, ...turn.completedItems] };
}
