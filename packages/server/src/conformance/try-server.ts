import { existsSync } from "node:fs";
import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { FrontendName } from "../frontends.ts";
import type { Suite } from "./check.ts";
import { type OfflineModel, offlineModel } from "./offline.ts";
import { type Finding, runSuite, selected } from "./runner.ts";
import { openTarget, type Target } from "./target.ts";
import { Trial } from "./trial.ts";

/** What is tried, and how. */
export interface TryOptions {
  /** An address, or a program and its arguments. */
  readonly words: readonly [string, ...string[]];
  readonly door: FrontendName;
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Where the threads of the checks work; a new folder that is removed afterwards if absent. */
  readonly cwd?: string | undefined;
  readonly timeoutMs: number;
  /** Only the checks whose group or sentence has this text in it. */
  readonly only?: string | undefined;
  /** Whether the server is given the offline model. */
  readonly offline?: boolean | undefined;
  readonly token?: string | undefined;
  /** The JSON schemas of the Codex app server that every message has to fit. */
  readonly schemas?: string | undefined;
  tell(finding: Finding): void;
}

/** Codex runs nothing for which its home lies below the folder for temporary files. */
const PLACES = ["/var/tmp", tmpdir()];

/** The suite of each door, loaded only when it is wanted. */
export const SUITES: Readonly<Record<FrontendName, () => Promise<Suite>>> = {
  codex: async () => (await import("./codex/suite.ts")).CODEX_SUITE,
  acp: async () => (await import("./acp/suite.ts")).ACP_SUITE,
  flint: async () => (await import("./flint/suite.ts")).FLINT_SUITE,
  harness: async () => (await import("./harness/suite.ts")).HARNESS_SUITE,
};

/** Runs the suite of a door against a server. Throws if there is no server to speak with. */
export async function tryServer(options: TryOptions): Promise<Finding[]> {
  const place = PLACES.find((folder) => existsSync(folder)) ?? tmpdir();
  const folder = await mkdtemp(join(place, "flint-conformance-"));
  const offline = options.offline === true ? await offlineModel(folder) : undefined;
  try {
    return await tryIn(folder, options, offline);
  } finally {
    await offline?.close();
    await rm(folder, { recursive: true, force: true, maxRetries: 5 });
  }
}

async function tryIn(
  folder: string,
  options: TryOptions,
  offline: OfflineModel | undefined,
): Promise<Finding[]> {
  const { words, timeoutMs, token } = options;
  const cwd = options.cwd ?? join(folder, "work");
  await mkdir(cwd, { recursive: true });
  const environment = { ...options.environment, ...offline?.environment };
  const target = await openTarget({ words, cwd, environment, folder, token, timeoutMs });
  try {
    return await tryTarget(target, cwd, options);
  } finally {
    await target.close();
  }
}

async function tryTarget(target: Target, cwd: string, options: TryOptions): Promise<Finding[]> {
  const { door, only, timeoutMs, schemas, tell } = options;
  const suite = await SUITES[door]();
  const trial = new Trial({ target, cwd, timeoutMs, header: suite.header });
  const groups = selected(suite.groups, only);
  if (groups.length === 0) throw new Error(`No check of the ${door} door has ${JSON.stringify(only)} in it.`);
  if (schemas !== undefined) {
    const { schemaChecks } = await import("./codex/schemas.ts");
    groups.push(await schemaChecks(schemas));
  }
  await reach(trial);
  return runSuite({ groups }, trial, tell);
}

/** One connection that is only greeted, so that a server which is not there is one error and not a hundred. */
async function reach(trial: Trial): Promise<void> {
  // Expected: nobody listens there, or a program that does not start or ends at once.
  try {
    const wire = await trial.fresh();
    wire.begin("initialize", {});
    await wire
      .waitFor(() => true, { what: "an answer to a greeting" })
      .catch((error: unknown) => {
        if (!wire.open) throw error;
      });
  } catch (error) {
    await trial.finish();
    const why = error instanceof Error ? error.message : String(error);
    throw new Error(`The server cannot be reached: ${why}`, { cause: error });
  }
  trial.end(false);
}
