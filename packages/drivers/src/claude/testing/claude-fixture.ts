import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import type { Clock, DriverSession, Sandbox, SessionSpec } from "@flint/core/ports";
import type { ThreadSettings } from "@flint/protocol";
import {
  agentFolder,
  agentProgram,
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

/** How a fixture differs from the default one. */
export interface FixtureOptions {
  /** What the model does, step by step; without it the model follows its rules. */
  readonly script?: OfflineScript | ((folders: FixtureFolders) => OfflineScript);
  readonly settings?: Partial<ThreadSettings>;
  readonly agent?: Partial<AgentOptions>;
}

/** Claude on the offline model, in a workspace of its own. */
export class ClaudeFixture implements FixtureFolders {
  readonly workspace: string;
  readonly config: string;
  readonly model: OfflineModelServer;
  readonly driver: ClaudeDriver;
  readonly settings: ThreadSettings;
  /** What was written to Claude and by it: `-> …` and `<- …`. */
  readonly lines: string[] = [];
  readonly #setup: FixtureSetup;

  private constructor(
    setup: FixtureSetup,
    folders: FixtureFolders,
    model: OfflineModelServer,
    options: FixtureOptions,
  ) {
    this.#setup = setup;
    this.workspace = folders.workspace;
    this.config = folders.config;
    this.model = model;
    const program = { command: setup.command, environment: { CLAUDE_CONFIG_DIR: folders.config } };
    const agent: AgentOptions = {
      program: async () => program,
      offlineModel: async () => model.url,
      trace: (direction, _kind, line) => this.lines.push(`${direction === "in" ? "<-" : "->"} ${line}`),
      version: "0.0.0",
      ...options.agent,
    };
    this.driver = new ClaudeDriver(agent, setup.clock, setup.folder);
    const settings = { approvalPolicy: "unlessTrusted", ...options.settings } as const;
    this.settings = testSettings("claude/default", folders.workspace, settings);
  }

  /** Makes the folders and starts the model. */
  static async make(setup: FixtureSetup, options: FixtureOptions = {}): Promise<ClaudeFixture> {
    const folders = { workspace: join(setup.folder, "workspace"), config: join(setup.folder, "config") };
    await Promise.all(Object.values(folders).map((folder) => mkdir(folder)));
    const { script } = options;
    const model = await offlineModel(setup.atEnd, typeof script === "function" ? script(folders) : script);
    return new ClaudeFixture(setup, folders, model, options);
  }

  /** Opens a session that is closed with the test at the latest. */
  async open(spec: Partial<SessionSpec> = {}): Promise<DriverSession> {
    const session = await this.driver.open(sessionSpec(this.settings, this.#setup.sandbox, spec));
    this.#setup.atEnd(() => session.close());
    return session;
  }
}

/** A fixture on the real program, for the running test, which may leave no process. */
export async function realClaude(options: FixtureOptions = {}): Promise<ClaudeFixture> {
  leavesNoProcess();
  const { path: folder } = await agentFolder();
  const sandbox = realSandbox({ brokerFolder: join(folder, "run") });
  const command = [agentProgram("claude") ?? "claude"];
  return ClaudeFixture.make({ folder, command, sandbox, atEnd: onTestFinished }, options);
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
