import { existsSync } from "node:fs";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { errorMessage } from "@flint/protocol";
import type { FrontendName } from "@flint/server/frontends";
import { type CheckResult, runSuite, type Suite, selected } from "./check.ts";
import { openTarget, type Target } from "./target.ts";
import { TestContext } from "./test-context.ts";

/** The server to test, and options of the test. */
export interface TestOptions {
  /** An address, or a program and its arguments. */
  readonly words: readonly [string, ...string[]];
  readonly protocol: FrontendName;
  readonly environment: Readonly<Record<string, string | undefined>>;
  /**
   * The folder in which the threads of the checks work; a new folder that is removed afterwards if absent.
   */
  readonly cwd?: string | undefined;
  readonly timeoutMs: number;
  /** Only the checks whose group or sentence has this text in it. */
  readonly only?: string | undefined;
  /** True if the server is given the offline model. */
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
  // Expected: no server listens there, or a program that does not start or ends at once.
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
    const why = errorMessage(error);
    throw new Error(`The server cannot be reached: ${why}`, { cause: error });
  }
  trial.end(false);
}

/** The offline model for the server that is tried, and the variables that lead it there. */
export interface OfflineModel {
  readonly environment: Readonly<Record<string, string>>;
  close(): Promise<void>;
}

/**
 * Starts the offline model and says which variables make an agent use it: Codex and what starts it, Claude, anything
 * that goes by the usual variables of OpenAI and Anthropic, and Flint. Their state goes to the folder, away from the
 * user's account and settings.
 */
export async function offlineModel(folder: string): Promise<OfflineModel> {
  const { ModelServer } = await import("@flint/offline-model/http");
  const server = await ModelServer.start();
  const codexHome = join(folder, "codex");
  await mkdir(codexHome, { recursive: true });
  await writeFile(join(codexHome, "config.toml"), codexConfig(`${server.url}/v1`));
  const environment = {
    NO_COLOR: "1",
    CODEX_HOME: codexHome,
    // codex-acp begins in a mode that lets a second model judge; in this one it asks.
    INITIAL_AGENT_MODE: "read-only",
    OPENAI_BASE_URL: `${server.url}/v1`,
    OPENAI_API_KEY: "offline",
    ANTHROPIC_BASE_URL: server.url,
    ANTHROPIC_API_KEY: "offline",
    FLINT_HOME: join(folder, "flint"),
    FLINT_CONFIG: join(folder, "flint.toml"),
    FLINT_MODEL: "flint/offline",
  };
  return { environment, close: () => server.close() };
}

/** Without retries of single requests every second attempt is one that Codex reports. */
function codexConfig(url: string): string {
  return [
    'model_provider = "flint"',
    "",
    "[model_providers.flint]",
    'name = "flint"',
    `base_url = ${JSON.stringify(url)}`,
    'wire_api = "responses"',
    "request_max_retries = 0",
    "",
  ].join("\n");
}
