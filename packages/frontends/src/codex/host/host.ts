/** A file or folder that fits what somebody typed. */
export interface HostFile {
  readonly root: string;
  /** From the root, with slashes. */
  readonly path: string;
  readonly isFolder: boolean;
  readonly name: string;
  readonly score: number;
  readonly indices: readonly number[];
}

/** A value that a client wants remembered, by its dotted path; null takes it away. */
export interface HostEdit {
  readonly keyPath: string;
  readonly value: unknown;
}

/** What clients had remembered so far, and a mark that changes whenever it does. */
export interface HostPreferences {
  readonly values: Readonly<Record<string, unknown>>;
  readonly version: string;
  /** The file that holds them; absolute. */
  readonly filePath: string;
}

/** What the Codex door has to know of the machine it runs on. */
export interface CodexHost {
  /** The folder in which the server keeps its state; absolute. */
  readonly home: string;
  preferences(): Promise<HostPreferences>;
  /** Keeps values, all or none; refuses if `expected` is not the present version. */
  remember(edits: readonly HostEdit[], expected: string | undefined): Promise<HostPreferences>;
  /** The content of a plain file. Rejects with a FlintError that says why not. */
  readFile(path: string): Promise<Uint8Array>;
  /** Files by some letters of their paths, best first. */
  findFiles(query: string, roots: readonly string[], signal: AbortSignal): Promise<readonly HostFile[]>;
}

const NOTHING: HostPreferences = { values: {}, version: "0", filePath: "/config.toml" };

/** A machine that nothing is known of, for tests and for servers that have no files. */
export const NO_HOST: CodexHost = {
  home: "/",
  preferences: async () => NOTHING,
  remember: async () => NOTHING,
  readFile: async () => new Uint8Array(),
  findFiles: async () => [],
};
