import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import type { Clock, DriverSession, Sandbox, SessionSpec } from "@flint/core/ports";
import type { ThreadSettings } from "@flint/protocol";
import {
  agentFolder,
  agentProgram,
  emptyFolder,
  leavesNoProcess,
  RecordingTurn,
  type RecordingTurnOptions,
  realSandbox,
} from "@flint/testkit";
import { onTestFinished } from "vitest";
import type { AgentOptions } from "../../shared/agent.ts";
import { type OfflineModelServer, type OfflineScript, offlineModel } from "../../testing/offline-model.ts";
import { sessionSpec, testSettings } from "../../testing/session-spec.ts";
import { ClaudeDriver } from "../driver.ts";

/** The surroundings of a fixture. */
export interface FixtureSetup {
  /** An empty folder. */
  readonly folder: string;
  /** The program and the arguments that come first. */
  readonly command: readonly string[];
  readonly sandbox: Sandbox;
  readonly clock?: Clock;
  atEnd(cleanUp: () => Promise<void>): void;
}

/** The folders of a fixture. */
export interface FixtureFolders {
  readonly workspace: string;
  /** Claude's own folder. */
  readonly config: string;
}

/** Differences of a fixture from the default one. */
export interface FixtureOptions {
  /** Scripted steps of the model; without them the model follows its rules. */
  readonly script?: OfflineScript | ((folders: FixtureFolders) => OfflineScript);
  readonly settings?: Partial<ThreadSettings>;
  readonly agent?: Partial<AgentOptions>;
}

/** Options of a fixture. */
interface FixtureParts {
  readonly setup: FixtureSetup;
  readonly folders: FixtureFolders;
  readonly model: OfflineModelServer;
  readonly driver: ClaudeDriver;
  readonly lines: string[];
  /** Gives the session that tests share to those that want no special one. */
  readonly openShared?: () => Promise<DriverSession>;
}

/** Claude on the offline model, in a workspace of its own. */
export class ClaudeFixture implements FixtureFolders {
  readonly workspace: string;
  readonly config: string;
  readonly model: OfflineModelServer;
  readonly driver: ClaudeDriver;
  readonly settings: ThreadSettings;
  /** The lines written to Claude and by it: `-> …` and `<- …`. */
  readonly lines: readonly string[];
  readonly #parts: FixtureParts;

  private constructor(parts: FixtureParts, changes: Partial<ThreadSettings> | undefined) {
    this.#parts = parts;
    this.workspace = parts.folders.workspace;
    this.config = parts.folders.config;
    this.model = parts.model;
    this.driver = parts.driver;
    this.lines = parts.lines;
    const settings = { approvalPolicy: "unlessTrusted", ...changes } as const;
    this.settings = testSettings("claude/default", this.workspace, settings);
  }

  /** Makes the folders and starts the model. */
  static async make(setup: FixtureSetup, options: FixtureOptions = {}): Promise<ClaudeFixture> {
    const folders = { workspace: join(setup.folder, "workspace"), config: join(setup.folder, "config") };
    await Promise.all(Object.values(folders).map((folder) => mkdir(folder)));
    const model = await offlineModel(setup.atEnd, scriptFor(folders, options));
    const program = { command: setup.command, environment: { CLAUDE_CONFIG_DIR: folders.config } };
    const lines: string[] = [];
    const agent: AgentOptions = {
      program: async () => program,
      offlineModel: async () => model.url,
      trace: (direction, _kind, line) => lines.push(`${direction === "in" ? "<-" : "->"} ${line}`),
      version: "0.0.0",
      stateFolder: join(setup.folder, "state"),
      ...options.agent,
    };
    const driver = new ClaudeDriver(agent, setup.clock, setup.folder);
    return new ClaudeFixture({ setup, folders, model, driver, lines }, options.settings);
  }

  /** Opens a session that is closed with the test at the latest, or takes the one that tests share. */
  async open(spec?: Partial<SessionSpec>): Promise<DriverSession> {
    const { setup, openShared } = this.#parts;
    if (spec === undefined && openShared !== undefined) return openShared();
    const session = await this.openKept(spec);
    setup.atEnd(() => session.close());
    return session;
  }

  /** Opens a session that the caller closes. */
  openKept(spec?: Partial<SessionSpec>): Promise<DriverSession> {
    return this.driver.open(sessionSpec(this.settings, this.#parts.setup.sandbox, spec));
  }

  /** The same Claude for the running test: its workspace is empty again, and the model follows another script. */
  async forTest(
    options: Pick<FixtureOptions, "script" | "settings">,
    openShared: () => Promise<DriverSession>,
  ): Promise<ClaudeFixture> {
    await emptyFolder(this.workspace);
    await this.model.follow(scriptFor(this, options));
    const setup = { ...this.#parts.setup, atEnd: onTestFinished };
    return new ClaudeFixture({ ...this.#parts, setup, openShared }, options.settings);
  }
}

function scriptFor(
  folders: FixtureFolders,
  { script }: Pick<FixtureOptions, "script">,
): OfflineScript | undefined {
  return typeof script === "function" ? script(folders) : script;
}

/** A fixture on the real program, outside of any test. */
export async function makeRealClaude(
  atEnd: FixtureSetup["atEnd"],
  options: FixtureOptions = {},
): Promise<ClaudeFixture> {
  const { path: folder, remove } = await agentFolder();
  atEnd(remove);
  const sandbox = realSandbox({ brokerFolder: join(folder, "run") });
  const command = [agentProgram("claude") ?? "claude"];
  return ClaudeFixture.make({ folder, command, sandbox, atEnd }, options);
}

/** A fixture on the real program, for the running test, which may leave no process. */
export function realClaude(options: FixtureOptions = {}): Promise<ClaudeFixture> {
  leavesNoProcess();
  return makeRealClaude(onTestFinished, options);
}

/** A turn with the settings of a fixture, unless others are given. */
export function turnOf(
  fixture: ClaudeFixture,
  text: string,
  options: Partial<RecordingTurnOptions> = {},
): RecordingTurn {
  return new RecordingTurn({ text, settings: fixture.settings, ...options });
}

/** Runs one turn to its end, in a new session unless one is given. */
export async function run(
  fixture: ClaudeFixture,
  text: string,
  options: Partial<RecordingTurnOptions> = {},
  given?: DriverSession,
) {
  const session = given ?? (await fixture.open());
  const turn = turnOf(fixture, text, options);
  const outcome = await session.run(turn).finally(() => turn.end());
  return { session, turn, outcome };
}
