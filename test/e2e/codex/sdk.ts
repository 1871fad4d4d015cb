import { mkdir } from "node:fs/promises";
import { createRequire } from "node:module";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { agentFolder, agentProgram, leavesNoProcess } from "@flint/testkit";
import { plainEnvironment } from "../../server/plain-environment.ts";

/** The program that replaces `codex`. */
export const FLINT_CODEX = fileURLToPath(
  new URL("../../../packages/cli/bin/flint-codex.cjs", import.meta.url),
);

/** Whatever an event of the SDK carries. */
export type SdkEvent = { readonly type: string } & Readonly<Record<string, unknown>>;

/** The part of a thread of `@openai/codex-sdk` that is used here. */
export interface SdkThread {
  readonly id: string | null;
  run(input: SdkInput, options?: SdkTurnOptions): Promise<SdkTurn>;
  runStreamed(
    input: SdkInput,
    options?: SdkTurnOptions,
  ): Promise<{ readonly events: AsyncIterable<SdkEvent> }>;
}

type SdkInput = string | readonly ({ type: "text"; text: string } | { type: "local_image"; path: string })[];
type SdkTurnOptions = { readonly outputSchema?: unknown; readonly signal?: AbortSignal };
type ThreadOptions = Readonly<Record<string, unknown>>;

/** The outcome of a turn of the SDK. */
export interface SdkTurn {
  readonly items: readonly SdkEvent[];
  readonly finalResponse: string;
  readonly usage: Readonly<Record<string, number>> | null;
}

/** The SDK's own class, as far as it is used here. */
export interface SdkCodex {
  startThread(options?: ThreadOptions): SdkThread;
  resumeThread(id: string, options?: ThreadOptions): SdkThread;
}

/** A folder to work in, and the SDK with a program of the test's choice. */
export interface SdkFixture {
  readonly workspace: string;
  readonly home: string;
  /** A new instance, as another process of the user would make it. */
  codex(options?: Readonly<Record<string, unknown>>): SdkCodex;
}

/** The real SDK on Flint and its offline model, with folders of its own; nothing may run when the test is over. */
export async function sdkFixture(): Promise<SdkFixture> {
  const { path: folder } = await agentFolder();
  leavesNoProcess();
  const [workspace, home] = [join(folder, "workspace"), join(folder, "home")];
  await Promise.all([workspace, home].map((path) => mkdir(path)));
  const base = { codexPathOverride: FLINT_CODEX, env: environmentIn(home) };
  return { workspace, home, codex: (options = {}) => new (sdkClass())({ ...base, ...options }) };
}

/** The environment of the test with nothing of the user in it that could change what happens. */
export function environmentIn(home: string): Record<string, string> {
  const merged = { ...process.env, ...plainEnvironment(home), HOME: home, CODEX_HOME: home };
  return Object.fromEntries(
    Object.entries(merged).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
  );
}

function sdkClass(): new (options: object) => SdkCodex {
  const { Codex } = createRequire(import.meta.url)(agentProgram("codex-sdk") ?? "codex-sdk");
  return Codex;
}

/** Collects all events of a turn, and how its stream ended. */
export async function collect(
  events: AsyncIterable<SdkEvent>,
): Promise<{ readonly events: readonly SdkEvent[]; readonly thrown: unknown }> {
  const collected: SdkEvent[] = [];
  // Expected: the SDK throws when the program ends with a failure, after all of its output.
  try {
    for await (const event of events) collected.push(event);
  } catch (thrown) {
    return { events: collected, thrown };
  }
  return { events: collected, thrown: undefined };
}
