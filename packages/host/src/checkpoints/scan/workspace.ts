import { createHash } from "node:crypto";
import { SerialQueue } from "@flint/core/async";
import type { CaptureContext } from "./capture.ts";
import type { State } from "./entry.ts";
import { differences, Manifest, ManifestFiles, withDifferences } from "./manifest.ts";
import { type CheckpointLimits, scanWorkspace } from "./workspace-scan.ts";

/** With more differences than this, writing a new base is cheaper. */
const MAX_DIFFERENCES = 2_000;

/** Options shared by all workspaces. */
export interface WorkspaceOptions extends CaptureContext {
  readonly limits: CheckpointLimits;
  /** The folder of the manifests, one subfolder for each set of roots. */
  readonly folder: string;
  /** Flint's own folder, which is never scanned. */
  readonly stateFolder: string;
}

/** A stored snapshot of a workspace: the id of a stored manifest, and the differences from it. */
export interface StoredSnapshot {
  readonly base: string;
  readonly differences: readonly (readonly [path: string, state: State])[];
}

interface Compared {
  readonly base: Manifest;
  readonly manifest: Manifest;
  readonly found: StoredSnapshot["differences"];
}

/** The folders of a turn and their latest snapshot, from this process or an earlier one. */
export class Workspace {
  readonly roots: readonly string[];
  readonly #options: WorkspaceOptions;
  readonly #files: ManifestFiles;
  readonly #queue = new SerialQueue();
  /** A scan that has not started yet, shared by all callers until it does. */
  #awaited: Promise<Manifest> | undefined;
  #latest: Manifest | undefined;
  #base: { readonly id: string; readonly manifest: Manifest } | undefined;
  #compared: Compared | undefined;
  #isLoaded = false;
  readonly #closing = new AbortController();

  constructor(options: WorkspaceOptions, roots: readonly string[]) {
    this.#options = options;
    this.roots = roots;
    const name = createHash("sha256").update(roots.join("\0")).digest("hex").slice(0, 32);
    this.#files = new ManifestFiles(options.disk, `${options.folder}/${name}`);
  }

  /**
   * Scans the workspace and stores what is new. One scan at a time, shared by all waiting callers. Rejects when `signal`
   * is aborted; the scan itself continues, which makes the next one shorter.
   */
  async snapshot(signal: AbortSignal): Promise<Manifest> {
    signal.throwIfAborted();
    this.#awaited ??= this.#queue.run(() => {
      this.#awaited = undefined;
      return this.#takeSnapshot();
    });
    return unlessAborted(this.#awaited, signal);
  }

  /** Stops a running scan. */
  close(): void {
    this.#closing.abort();
  }

  /** Stores a snapshot, so that it outlives this process. */
  store(manifest: Manifest): Promise<StoredSnapshot> {
    return this.#queue.run(() => this.#store(manifest));
  }

  /** Reads a stored snapshot; undefined if its base is missing. */
  read({ base, differences: found }: StoredSnapshot): Manifest | undefined {
    const manifest = this.#files.read(base);
    return manifest === undefined ? undefined : withDifferences(manifest, found);
  }

  async #takeSnapshot(): Promise<Manifest> {
    const { signal } = this.#closing;
    this.#load();
    const found = await this.#scan(this.#latest ?? this.#base?.manifest, signal);
    const lost = this.#lost(found);
    const manifest = lost.length === 0 ? found : await this.#scan(without(found, lost), signal);
    this.#latest = manifest;
    return manifest;
  }

  #scan(previous: Manifest | undefined, signal: AbortSignal): Promise<Manifest> {
    const { disk, blobs, limit, limits, stateFolder } = this.#options;
    return scanWorkspace({ disk, blobs, limit, limits, stateFolder, roots: this.roots, signal }, previous);
  }

  /** Paths whose content was swept because nothing referred to it any more. */
  #lost(manifest: Manifest): readonly string[] {
    if (this.#base === undefined) return [];
    return this.#differences(this.#base.manifest, manifest)
      .filter(([, state]) => state?.kind === "file" && !this.#options.blobs.touch(state.hash))
      .map(([path]) => path);
  }

  /** Cached, because nearly every snapshot needs them twice. */
  #differences(base: Manifest, manifest: Manifest): StoredSnapshot["differences"] {
    const known = this.#compared;
    if (known?.base === base && known.manifest === manifest) return known.found;
    const found = differences(base, manifest);
    this.#compared = { base, manifest, found };
    return found;
  }

  /** The contents of an existing base are never swept; without it, none of them can be relied on. */
  #load(): void {
    if (this.#base !== undefined && this.#files.touch(this.#base.id)) return;
    if (this.#isLoaded) this.#latest = undefined;
    this.#base = this.#files.newest();
    this.#isLoaded = true;
    if (this.#base !== undefined && !this.#files.touch(this.#base.id)) this.#base = undefined;
  }

  async #store(manifest: Manifest): Promise<StoredSnapshot> {
    const base = this.#base;
    if (base !== undefined && this.#files.touch(base.id)) {
      const found = this.#differences(base.manifest, manifest);
      if (found.length <= MAX_DIFFERENCES) return { base: base.id, differences: found };
    }
    const id = await this.#files.write(manifest);
    this.#base = { id, manifest };
    return { base: id, differences: [] };
  }
}

function without(manifest: Manifest, paths: readonly string[]): Manifest {
  const entries = new Map(manifest.entries);
  for (const path of paths) entries.delete(path);
  return new Manifest(entries, manifest.rules);
}

async function unlessAborted<Value>(work: Promise<Value>, signal: AbortSignal): Promise<Value> {
  const { promise: aborted, cancel } = rejectionOnAbort(signal);
  try {
    return await Promise.race([work, aborted]);
  } finally {
    cancel();
  }
}

function rejectionOnAbort(signal: AbortSignal): { readonly promise: Promise<never>; cancel(): void } {
  let cancel = () => {};
  const promise = new Promise<never>((_resolve, reject) => {
    const abort = () => reject(signal.reason);
    signal.addEventListener("abort", abort, { once: true });
    cancel = () => signal.removeEventListener("abort", abort);
  });
  return { promise, cancel };
}
