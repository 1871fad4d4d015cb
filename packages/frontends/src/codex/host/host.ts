/** A file or folder that matches a query. */
export interface HostFile {
  readonly root: string;
  /** From the root, with slashes. */
  readonly path: string;
  readonly isFolder: boolean;
  readonly name: string;
  readonly score: number;
  readonly indices: readonly number[];
}

/** A value that a client writes, by its dotted path; null removes it. */
export interface HostEdit {
  readonly keyPath: string;
  readonly value: unknown;
}

/** The values that clients have written, and a version that changes with them. */
export interface HostPreferences {
  readonly values: Readonly<Record<string, unknown>>;
  readonly version: string;
  /** The file that holds them; absolute. */
  readonly filePath: string;
}

/** Dependencies of the Codex front end on the machine it runs on. */
export interface CodexHost {
  /** The folder in which the server keeps its state; absolute. */
  readonly home: string;
  preferences(): Promise<HostPreferences>;
  /** Stores values, all or none; rejects if `expected` is not the current version. */
  remember(edits: readonly HostEdit[], expected: string | undefined): Promise<HostPreferences>;
  /** The content of a regular file. Rejects with a FlintError that has the reason. */
  readFile(path: string): Promise<Uint8Array>;
  /** Files by some letters of their paths, best match first. */
  findFiles(query: string, roots: readonly string[], signal: AbortSignal): Promise<readonly HostFile[]>;
}

const NOTHING: HostPreferences = { values: {}, version: "0", filePath: "/config.toml" };

/** A machine without files, for tests. */
export const NO_HOST: CodexHost = {
  home: "/",
  preferences: async () => NOTHING,
  remember: async () => NOTHING,
  readFile: async () => new Uint8Array(),
  findFiles: async () => [],
};
