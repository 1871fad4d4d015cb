import type {
  CheckpointedTurn,
  Checkpoints,
  CommandBroker,
  CommitOffer,
  FilesOutcome,
  FilesPreview,
  LaunchResult,
  LaunchSpec,
  McpServerConfig,
  OpenedThread,
  Page,
  ProcessSpec,
  ReadThread,
  RunningProcess,
  Sandbox,
  Steering,
  Store,
  ThreadQuery,
  ThreadWriter,
  TurnCheckpoint,
  TurnPage,
  TurnsToUndo,
  WorkspaceConfig,
  Workspaces,
  WritablePath,
} from "@flint/core/ports";
import type { SandboxState, StoredEvent, Thread, Turn, WorkspaceFile } from "@flint/protocol";

/** A port whose implementation is loaded by the first call, so that a server answers `initialize` without it. */
class LazyPort<Port> {
  readonly #load: () => Promise<Port>;
  #port: Promise<Port> | undefined;

  constructor(load: () => Promise<Port>) {
    this.#load = load;
  }

  protected get port(): Promise<Port> {
    this.#port ??= this.#load();
    return this.#port;
  }

  /** The implementation, unless it was never needed. */
  protected async loaded(): Promise<Port | undefined> {
    return this.#port;
  }
}

/** A store that is loaded on first use. */
export class LazyStore extends LazyPort<Store> implements Store {
  async create(threadId: string): Promise<ThreadWriter> {
    return (await this.port).create(threadId);
  }

  async open(threadId: string): Promise<OpenedThread> {
    return (await this.port).open(threadId);
  }

  async *read(threadId: string, afterSeq?: number): AsyncIterable<StoredEvent> {
    yield* (await this.port).read(threadId, afterSeq);
  }

  async peek(threadId: string): Promise<ReadThread> {
    return (await this.port).peek(threadId);
  }

  async turns(threadId: string, page: TurnPage): Promise<Page<Turn>> {
    return (await this.port).turns(threadId, page);
  }

  async list(query: ThreadQuery): Promise<Page<Thread>> {
    return (await this.port).list(query);
  }

  async remove(threadId: string): Promise<void> {
    return (await this.port).remove(threadId);
  }

  async close(): Promise<void> {
    await (await this.loaded())?.close();
  }
}

/** A sandbox that is loaded with the first command. */
export class LazySandbox extends LazyPort<Sandbox> implements Sandbox {
  async state(): Promise<SandboxState> {
    return (await this.port).state();
  }

  async launch(spec: LaunchSpec): Promise<LaunchResult> {
    return (await this.port).launch(spec);
  }

  async start(spec: ProcessSpec): Promise<RunningProcess> {
    return (await this.port).start(spec);
  }

  async resolveWritable(path: string, workspace: string): Promise<WritablePath> {
    const port = await this.port;
    return (
      (await port.resolveWritable?.(path, workspace)) ?? {
        problem: "this sandbox cannot grant further folders",
      }
    );
  }

  /** Nothing was committed in a sandbox that was never used. */
  async openBroker(launch?: Sandbox["start"]): Promise<CommandBroker | undefined> {
    return (await this.port).openBroker?.(launch);
  }

  async commits(scopeId: string): Promise<CommitOffer | undefined> {
    return (await this.loaded())?.commits?.(scopeId);
  }

  async refreshScope(scopeId: string): Promise<void> {
    await (await this.loaded())?.refreshScope?.(scopeId);
  }

  async closeScope(scopeId: string): Promise<void> {
    await (await this.loaded())?.closeScope?.(scopeId);
  }
}

/** Workspaces that are loaded with the first thread. */
export class LazyWorkspaces extends LazyPort<Workspaces> implements Workspaces {
  async configOf(cwd: string): Promise<WorkspaceConfig> {
    return (await this.port).configOf(cwd);
  }

  async steering(cwd: string, paths: readonly string[]): Promise<Steering> {
    return (await this.port).steering(cwd, paths);
  }

  async gitVariables(cwd: string): Promise<Readonly<Record<string, string>>> {
    return (await this.port).gitVariables(cwd);
  }

  async mcpProblem(
    server: McpServerConfig,
    cwd: string,
    roots: readonly string[],
  ): Promise<string | undefined> {
    return (await this.port).mcpProblem(server, cwd, roots);
  }

  async files(cwd: string): Promise<readonly WorkspaceFile[]> {
    return (await this.port).files(cwd);
  }

  async trust(cwd: string, files: readonly Pick<WorkspaceFile, "path" | "sha256">[]): Promise<void> {
    return (await this.port).trust(cwd, files);
  }

  async distrust(cwd: string): Promise<void> {
    return (await this.port).distrust(cwd);
  }
}

/** Checkpoints that are loaded with the first turn. */
export class LazyCheckpoints extends LazyPort<Checkpoints> implements Checkpoints {
  async begin(turn: CheckpointedTurn): Promise<TurnCheckpoint> {
    return (await this.port).begin(turn);
  }

  async preview(turns: TurnsToUndo): Promise<FilesPreview> {
    return (await this.port).preview(turns);
  }

  async restore(turns: TurnsToUndo, revertId: string): Promise<FilesPreview> {
    return (await this.port).restore(turns, revertId);
  }

  async undo(threadId: string, revertId: string, cwd: string): Promise<FilesOutcome> {
    return (await this.port).undo(threadId, revertId, cwd);
  }

  async remove(threadId: string): Promise<void> {
    return (await this.port).remove(threadId);
  }

  async close(): Promise<void> {
    await (await this.loaded())?.close();
  }
}
