/** A key of the configuration, and what it is set to in the folder of the session. */
export interface ConfigKey {
  readonly name: string;
  readonly doc: string;
  /** Describes a valid value; completes "must be". */
  readonly takes: string;
  /** Its values, if it has only a few. */
  readonly choices: readonly string[];
  /** As it is typed; undefined if no file sets it. */
  readonly value: string | undefined;
  /** The file that sets it. */
  readonly source: string | undefined;
  /** The file of the administrator that locks it. */
  readonly lockedBy: string | undefined;
}

/** An agent of the machine, and the program that Flint would start for it. */
export interface MachineAgent {
  readonly id: string;
  readonly name: string;
  /** Its version, or that it is not installed. */
  readonly version: string;
  /** Undefined if that is not known. */
  readonly loggedIn: boolean | undefined;
  readonly path: string | undefined;
  /** The command that installs it, if it is not installed. */
  readonly install: string | undefined;
  /** The change that Flint can make to its program. */
  readonly change: "install" | "remove" | undefined;
}

/**
 * The services of the machine for a session beyond its server: everything that is not the terminal itself.
 */
export interface Machine {
  readonly cwd: string;
  readonly home: string | undefined;
  /** Its name on the network, for links to its files. */
  readonly host: string;
  /** The branch that is checked out in a folder; undefined if there is none. */
  branchOf(folder: string): string | undefined;
  /** Reads and writes small texts that outlive the session, such as drafts. Undefined if there is none. */
  readNote(name: string): string | undefined;
  writeNote(name: string, text: string): void;
  /** Writes a file that the user asked for. Rejects with a sentence if that fails. */
  writeFile(path: string, text: string): Promise<void>;
  /** A private folder for history, drafts and pasted images; undefined if nothing is kept. */
  readonly notesFolder: string | undefined;
  /** The user's editor, with its arguments; undefined if none is configured. */
  readonly editor: string | undefined;
  /** PATH without the folders of the project that is worked on in this folder. */
  searchPath(folder: string): Promise<string>;
  /** Finds a program to start outside of the sandbox, on PATH but not in the project; undefined if there is none. */
  findProgram(name: string): Promise<string | undefined>;
  /** Opens an image, by its path, URL or `data:` URL, and gives what was opened. Rejects with a sentence if that fails. */
  openImage(source: string): Promise<string>;
  /** Sets a key of the user's configuration. Rejects with a sentence if that fails. */
  setConfig(key: string, value: unknown): Promise<void>;
  /** Every key that is set in the folder of the session, and every other key that has one name. */
  configuration(): Promise<readonly ConfigKey[]>;
  /** Sets a key of the user's configuration as it is typed, or removes it. Gives the file; rejects with a sentence if that fails. */
  changeConfig(key: string, typed: string | undefined): Promise<string>;
  /** Every agent but Flint's own. */
  agents(): Promise<readonly MachineAgent[]>;
  /** The agents that Flint can install or remove, without asking their programs for anything. */
  agentChanges(): Promise<readonly Pick<MachineAgent, "id" | "name" | "change">[]>;
  /** Installs an agent and gives the outcome as text; `progress` is called with what is done meanwhile. */
  installAgent(name: string, progress: (doing: string) => void): Promise<string>;
  /** Removes an agent that Flint installed, and gives the outcome as text. */
  removeAgent(name: string): Promise<string>;
  /** Runs the checks of `flint doctor` and gives its report. */
  doctor(): Promise<string>;
}
