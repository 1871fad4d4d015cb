import { createHash } from "node:crypto";
import { SerialQueue } from "@flint/core/async";
import type { CaptureTools } from "./capture.ts";
import type { State } from "./entry.ts";
import { differences, Manifest, ManifestFiles, withDifferences } from "./manifest.ts";
import { type CheckpointLimits, scanWorkspace } from "./workspace-scan.ts";

/** With more differences than this a new base costs less than carrying them along. */
const MOST_DIFFERENCES = 2_000;

/** What all workspaces share. */
export interface WorkspaceTools extends CaptureTools {
  readonly limits: CheckpointLimits;
  /** Where manifests are kept, one folder for each set of roots. */
  readonly folder: string;
  /** Never looked into. */
  readonly own: string;
}

/** A look at a workspace as it is written down: a manifest that was stored, and what differed from it. */
export interface StoredLook {
  readonly base: string;
  readonly differences: readonly (readonly [path: string, state: State])[];
}

interface Compared {
  readonly base: Manifest;
  readonly manifest: Manifest;
  readonly found: StoredLook["differences"];
}

/** The folders of a turn, and what was last found in them, in this process or an earlier one. */
export class Workspace {
  readonly roots: readonly string[];
  readonly #tools: WorkspaceTools;
  readonly #files: ManifestFiles;
  readonly #queue = new SerialQueue();
  /** A look that has not begun yet: everybody who wants one meanwhile can share it. */
  #awaited: Promise<Manifest> | undefined;
  #latest: Manifest | undefined;
  #base: { readonly id: string; readonly manifest: Manifest } | undefined;
  #compared: Compared | undefined;
  #isLoaded = false;
  readonly #closing = new AbortController();

  constructor(tools: WorkspaceTools, roots: readonly string[]) {
    this.#tools = tools;
    this.roots = roots;
    const name = createHash("sha256").update(roots.join("\0")).digest("hex").slice(0, 32);
    this.#files = new ManifestFiles(tools.disk, `${tools.folder}/${name}`);
  }

  /**
   * Looks at everything and keeps what is new. One look at a time, and one for all who wait. Rejects for whoever does
   * not want it any more; the look itself goes on, and the next one is the shorter for it.
   */
  async look(signal: AbortSignal): Promise<Manifest> {
    signal.throwIfAborted();
    this.#awaited ??= this.#queue.run(() => {
      this.#awaited = undefined;
      return this.#look();
    });
    return unlessAborted(this.#awaited, signal);
  }

  /** Stops what is under way. */
  close(): void {
    this.#closing.abort();
  }

  /** Writes down what was found, so that it can be read after the end of this process. */
  store(manifest: Manifest): Promise<StoredLook> {
    return this.#queue.run(() => this.#store(manifest));
  }

  /** What was written down; undefined if its base is lost. */
  read({ base, differences: found }: StoredLook): Manifest | undefined {
    const manifest = this.#files.read(base);
    return manifest === undefined ? undefined : withDifferences(manifest, found);
  }

  async #look(): Promise<Manifest> {
    const { signal } = this.#closing;
    this.#load();
    const found = await this.#scan(this.#latest ?? this.#base?.manifest, signal);
    const lost = this.#lost(found);
    const manifest = lost.length === 0 ? found : await this.#scan(without(found, lost), signal);
    this.#latest = manifest;
    return manifest;
  }

  #scan(previous: Manifest | undefined, signal: AbortSignal): Promise<Manifest> {
    const { disk, blobs, limit, limits, own } = this.#tools;
    return scanWorkspace({ disk, blobs, limit, limits, own, roots: this.roots, signal }, previous);
  }

  /** Paths whose content was collected because nobody owned it any more. */
  #lost(manifest: Manifest): readonly string[] {
    if (this.#base === undefined) return [];
    return this.#differences(this.#base.manifest, manifest)
      .filter(([, state]) => state?.kind === "file" && !this.#tools.blobs.touch(state.hash))
      .map(([path]) => path);
  }

  /** Asked for twice of nearly every look. */
  #differences(base: Manifest, manifest: Manifest): StoredLook["differences"] {
    const known = this.#compared;
    if (known?.base === base && known.manifest === manifest) return known.found;
    const found = differences(base, manifest);
    this.#compared = { base, manifest, found };
    return found;
  }

  /** Contents named by a base that is there are never collected; if it is gone, nothing that it named can be relied on. */
  #load(): void {
    if (this.#base !== undefined && this.#files.touch(this.#base.id)) return;
    if (this.#isLoaded) this.#latest = undefined;
    this.#base = this.#files.newest();
    this.#isLoaded = true;
    if (this.#base !== undefined && !this.#files.touch(this.#base.id)) this.#base = undefined;
  }

  async #store(manifest: Manifest): Promise<StoredLook> {
    const base = this.#base;
    if (base !== undefined && this.#files.touch(base.id)) {
      const found = this.#differences(base.manifest, manifest);
      if (found.length <= MOST_DIFFERENCES) return { base: base.id, differences: found };
    }
    const id = await this.#files.write(manifest);
    this.#base = { id, manifest };
    return { base: id, differences: [] };
  }
}

function without(manifest: Manifest, paths: readonly string[]): Manifest {
  const seen = new Map(manifest.seen);
  for (const path of paths) seen.delete(path);
  return new Manifest(seen, manifest.rules);
}

async function unlessAborted<Value>(work: Promise<Value>, signal: AbortSignal): Promise<Value> {
  const { promise: aborted, cancel } = abortion(signal);
  try {
    return await Promise.race([work, aborted]);
  } finally {
    cancel();
  }
}

function abortion(signal: AbortSignal): { readonly promise: Promise<never>; cancel(): void } {
  let cancel = () => {};
  const promise = new Promise<never>((_resolve, reject) => {
    const abort = () => reject(signal.reason);
    signal.addEventListener("abort", abort, { once: true });
    cancel = () => signal.removeEventListener("abort", abort);
  });
  return { promise, cancel };
}
