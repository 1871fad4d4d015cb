import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import type { Clock, DriverSession, Sandbox, SessionSpec } from "@flint/core/ports";
import { mintId, type ThreadSettings } from "@flint/protocol";
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
import { ClaudeDriver } from "../driver.ts";

/** What a test gives to its bench. */
export interface BenchKit {
  /** An empty folder. */
  readonly folder: string;
  /** The program and the arguments that come first. */
  readonly command: readonly string[];
  readonly sandbox: Sandbox;
  readonly clock?: Clock;
  atEnd(cleanUp: () => Promise<void>): void;
}

/** The folders of a bench. */
export interface Place {
  readonly workspace: string;
  /** Claude's own folder. */
  readonly config: string;
}

/** How a bench differs from the plain one. */
export interface BenchWishes {
  /** What the model does, step by step; without it the model follows its rules. */
  readonly script?: OfflineScript | ((place: Place) => OfflineScript);
  readonly settings?: Partial<ThreadSettings>;
  readonly agent?: Partial<AgentOptions>;
}

/** Claude on the offline model, in a workspace of its own. */
export class ClaudeBench implements Place {
  readonly workspace: string;
  readonly config: string;
  readonly model: OfflineModelServer;
  readonly driver: ClaudeDriver;
  readonly settings: ThreadSettings;
  /** What was written to Claude and by it: `-> …` and `<- …`. */
  readonly lines: string[] = [];
  readonly #kit: BenchKit;

  private constructor(kit: BenchKit, place: Place, model: OfflineModelServer, wishes: BenchWishes) {
    this.#kit = kit;
    this.workspace = place.workspace;
    this.config = place.config;
    this.model = model;
    const program = { command: kit.command, environment: { CLAUDE_CONFIG_DIR: place.config } };
    const options: AgentOptions = {
      program: async () => program,
      offlineModel: async () => model.url,
      trace: (direction, _kind, line) => this.lines.push(`${direction === "in" ? "<-" : "->"} ${line}`),
      version: "0.0.0",
      ...wishes.agent,
    };
    this.driver = new ClaudeDriver(options, kit.clock, kit.folder);
    this.settings = {
      model: "claude/default",
      cwd: place.workspace,
      approvalPolicy: "unlessTrusted",
      sandboxPolicy: { type: "workspaceWrite" },
      config: {},
      ...wishes.settings,
    };
  }

  /** Makes the folders and starts the model. */
  static async make(kit: BenchKit, wishes: BenchWishes = {}): Promise<ClaudeBench> {
    const place = { workspace: join(kit.folder, "workspace"), config: join(kit.folder, "config") };
    await Promise.all(Object.values(place).map((folder) => mkdir(folder)));
    const { script } = wishes;
    const model = await offlineModel(kit.atEnd, typeof script === "function" ? script(place) : script);
    return new ClaudeBench(kit, place, model, wishes);
  }

  /** Opens a session that is closed with the test at the latest. */
  async open(spec: Partial<SessionSpec> = {}): Promise<DriverSession> {
    const session = await this.driver.open({
      threadId: mintId(),
      settings: this.settings,
      nativeId: undefined,
      history: async () => [],
      handoffSummary: async () => "",
      mcpServers: [],
      sandbox: this.#kit.sandbox,
      ...spec,
    });
    this.#kit.atEnd(() => session.close());
    return session;
  }
}

/** A bench on the real program, for the running test, which may leave no process. */
export async function realClaude(wishes: BenchWishes = {}): Promise<ClaudeBench> {
  leavesNoProcess();
  const { path: folder } = await agentFolder();
  const sandbox = realSandbox();
  const command = [agentProgram("claude") ?? "claude"];
  return ClaudeBench.make({ folder, command, sandbox, atEnd: onTestFinished }, wishes);
}

/** A turn with the settings of a bench, unless told otherwise. */
export function turnOf(
  bench: ClaudeBench,
  text: string,
  wishes: Partial<RecordingTurnOptions> = {},
): RecordingTurn {
  return new RecordingTurn({ text, settings: bench.settings, ...wishes });
}

/** Runs one turn to its end, in a new session unless one is given. */
export async function run(
  bench: ClaudeBench,
  text: string,
  wishes: Partial<RecordingTurnOptions> = {},
  given?: DriverSession,
) {
  const session = given ?? (await bench.open());
  const turn = turnOf(bench, text, wishes);
  const outcome = await session.run(turn).finally(() => turn.end());
  return { session, turn, outcome };
}
