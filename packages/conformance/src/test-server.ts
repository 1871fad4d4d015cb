import { existsSync } from "node:fs";
import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { FrontendName } from "@flint/server/frontends";
import type { Suite } from "./check.ts";
import { type OfflineModel, offlineModel } from "./offline.ts";
import { type CheckResult, runSuite, selected } from "./runner.ts";
import { openTarget, type Target } from "./target.ts";
import { TestContext } from "./test-context.ts";

/** What to test, and how. */
export interface TestOptions {
  /** An address, or a program and its arguments. */
  readonly words: readonly [string, ...string[]];
  readonly protocol: FrontendName;
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
  report(finding: CheckResult): void;
}

/** Codex refuses to work if its home is below the system's temporary folder. */
const PARENTS = ["/var/tmp", tmpdir()];

/** The suite of each protocol, loaded on first use. */
export const SUITES: Readonly<Record<FrontendName, () => Promise<Suite>>> = {
  codex: async () => (await import("./codex/suite.ts")).CODEX_SUITE,
  acp: async () => (await import("./acp/suite.ts")).ACP_SUITE,
  flint: async () => (await import("./flint/suite.ts")).FLINT_SUITE,
  harness: async () => (await import("./harness/suite.ts")).HARNESS_SUITE,
};

/** Runs the suite of a protocol against a server. Throws if the server cannot be reached. */
export async function testServer(options: TestOptions): Promise<CheckResult[]> {
  const parent = PARENTS.find((folder) => existsSync(folder)) ?? tmpdir();
  const folder = await mkdtemp(join(parent, "flint-conformance-"));
  const offline = options.offline === true ? await offlineModel(folder) : undefined;
  try {
    return await testIn(folder, options, offline);
  } finally {
    await offline?.close();
    await rm(folder, { recursive: true, force: true, maxRetries: 5 });
  }
}

async function testIn(
  folder: string,
  options: TestOptions,
  offline: OfflineModel | undefined,
): Promise<CheckResult[]> {
  const { words, timeoutMs, token } = options;
  const cwd = options.cwd ?? join(folder, "work");
  await mkdir(cwd, { recursive: true });
  const environment = { ...options.environment, ...offline?.environment };
  const target = await openTarget({ words, cwd, environment, folder, token, timeoutMs });
  try {
    return await testTarget(target, cwd, options);
  } finally {
    await target.close();
  }
}

async function testTarget(target: Target, cwd: string, options: TestOptions): Promise<CheckResult[]> {
  const { protocol, only, timeoutMs, schemas, report } = options;
  const suite = await SUITES[protocol]();
  const trial = new TestContext({ target, cwd, timeoutMs, header: suite.header });
  const groups = selected(suite.groups, only);
  if (groups.length === 0)
    throw new Error(`No check of the ${protocol} protocol contains ${JSON.stringify(only)}.`);
  if (schemas !== undefined) {
    const { schemaChecks } = await import("./codex/schemas.ts");
    groups.push(await schemaChecks(schemas));
  }
  await reach(trial);
  return runSuite({ groups }, trial, report);
}

/** Connects once first, so that an unreachable server is one error and not a hundred. */
async function reach(trial: TestContext): Promise<void> {
  // Expected: nobody listens there, or a program that does not start or ends at once.
  try {
    const wire = await trial.fresh();
    wire.begin("initialize", {});
    await wire
      .waitFor(() => true, { what: "an answer to initialize" })
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
