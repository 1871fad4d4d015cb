import type {
  CheckpointedTurn,
  Checkpoints,
  FilesOutcome,
  FilesPreview,
  LaunchResult,
  LaunchSpec,
  OpenedThread,
  Page,
  ProcessSpec,
  ReadThread,
  RunningProcess,
  Sandbox,
  Store,
  ThreadQuery,
  ThreadWriter,
  TurnCheckpoint,
  TurnPage,
  TurnsToUndo,
  WorkspaceConfig,
  Workspaces,
} from "@flint/core/ports";
import type { SandboxState, StoredEvent, Thread, Turn, WorkspaceFile } from "@flint/protocol";

/** A store that is loaded when it is first used, so that a server answers its first request without it. */
export class LazyStore implements Store {
  readonly #make: () => Promise<Store>;
  #made: Promise<Store> | undefined;

  constructor(make: () => Promise<Store>) {
    this.#make = make;
  }

  async create(threadId: string): Promise<ThreadWriter> {
    return (await this.#store()).create(threadId);
  }

  async open(threadId: string): Promise<OpenedThread> {
    return (await this.#store()).open(threadId);
  }

  async *read(threadId: string, afterSeq?: number): AsyncIterable<StoredEvent> {
    yield* (await this.#store()).read(threadId, afterSeq);
  }

  async peek(threadId: string): Promise<ReadThread> {
    return (await this.#store()).peek(threadId);
  }

  async turns(threadId: string, page: TurnPage): Promise<Page<Turn>> {
    return (await this.#store()).turns(threadId, page);
  }

  async list(query: ThreadQuery): Promise<Page<Thread>> {
    return (await this.#store()).list(query);
  }

  async remove(threadId: string): Promise<void> {
    return (await this.#store()).remove(threadId);
  }

  async close(): Promise<void> {
    if (this.#made !== undefined) await (await this.#made).close();
  }

  #store(): Promise<Store> {
    this.#made ??= this.#make();
    return this.#made;
  }
}

/** A sandbox that is loaded with the first command. */
export class LazySandbox implements Sandbox {
  readonly #make: () => Promise<Sandbox>;
  #made: Promise<Sandbox> | undefined;

  constructor(make: () => Promise<Sandbox>) {
    this.#make = make;
  }

  async state(): Promise<SandboxState> {
    return (await this.#sandbox()).state();
  }

  async launch(spec: LaunchSpec): Promise<LaunchResult> {
    return (await this.#sandbox()).launch(spec);
  }

  async start(spec: ProcessSpec): Promise<RunningProcess> {
    return (await this.#sandbox()).start(spec);
  }

  #sandbox(): Promise<Sandbox> {
    this.#made ??= this.#make();
    return this.#made;
  }
}

/** The names of what was said when Flint was started; a workspace does not change it. */
export type StartChoices = ReadonlySet<string>;

/** Workspaces whose files are looked at when the first thread starts. */
export class LazyWorkspaces implements Workspaces {
  readonly #make: () => Promise<Workspaces>;
  readonly #chosen: StartChoices;
  #made: Promise<Workspaces> | undefined;

  constructor(make: () => Promise<Workspaces>, chosen: StartChoices) {
    this.#make = make;
    this.#chosen = chosen;
  }

  async configOf(cwd: string): Promise<WorkspaceConfig> {
    const { mcpServers, notices, ...asked } = await (await this.#workspaces()).configOf(cwd);
    const allowed = Object.entries(asked).filter(([name]) => !this.#chosen.has(name));
    return { ...Object.fromEntries(allowed), mcpServers, notices };
  }

  async files(cwd: string): Promise<readonly WorkspaceFile[]> {
    return (await this.#workspaces()).files(cwd);
  }

  async trust(cwd: string, files: readonly Pick<WorkspaceFile, "path" | "sha256">[]): Promise<void> {
    return (await this.#workspaces()).trust(cwd, files);
  }

  async distrust(cwd: string): Promise<void> {
    return (await this.#workspaces()).distrust(cwd);
  }

  #workspaces(): Promise<Workspaces> {
    this.#made ??= this.#make();
    return this.#made;
  }
}

/** Checkpoints that are loaded with the first turn. */
export class LazyCheckpoints implements Checkpoints {
  readonly #make: () => Promise<Checkpoints>;
  #made: Promise<Checkpoints> | undefined;

  constructor(make: () => Promise<Checkpoints>) {
    this.#make = make;
  }

  async begin(turn: CheckpointedTurn): Promise<TurnCheckpoint> {
    return (await this.#checkpoints()).begin(turn);
  }

  async preview(turns: TurnsToUndo): Promise<FilesPreview> {
    return (await this.#checkpoints()).preview(turns);
  }

  async restore(turns: TurnsToUndo, revertId: string): Promise<FilesPreview> {
    return (await this.#checkpoints()).restore(turns, revertId);
  }

  async undo(threadId: string, revertId: string, cwd: string): Promise<FilesOutcome> {
    return (await this.#checkpoints()).undo(threadId, revertId, cwd);
  }

  async remove(threadId: string): Promise<void> {
    return (await this.#checkpoints()).remove(threadId);
  }

  async close(): Promise<void> {
    if (this.#made !== undefined) await (await this.#made).close();
  }

  #checkpoints(): Promise<Checkpoints> {
    this.#made ??= this.#make();
    return this.#made;
  }
}
