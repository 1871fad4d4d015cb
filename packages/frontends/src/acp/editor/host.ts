import type { ClientFiles, ClientHost, Clock } from "@flint/core/ports";
import { RemoteError } from "@flint/rpc";
import type { ClientAsks } from "../../shared/client-asks.ts";
import type { ClientCapabilities } from "../capabilities.ts";
import { ReadTextFileResponse } from "../vocabulary.ts";
import { EditorRequests } from "./requests.ts";
import { EditorTerminal } from "./terminal.ts";

/** The work that the user lets editors do themselves. */
export interface EditorUse {
  /** Run the commands that nothing confines, in terminals of the editor. */
  readonly terminal: boolean;
  /** Read and write files. */
  readonly fs: boolean;
}

/** The services of an editor for one session, and the sentences that explain them to its user. */
export interface EditorHost {
  readonly host: ClientHost;
  readonly notices: readonly string[];
}

/** Options of a session's host. */
export interface EditorHostOptions {
  readonly use: EditorUse;
  readonly capabilities: ClientCapabilities;
  readonly asks: ClientAsks;
  readonly clock: Clock;
  readonly sessionId: string;
  /** Shows a terminal in the tool call of a command. */
  showTerminal(itemId: string, terminalId: string): void;
}

const TERMINAL_NOTICE =
  "Commands of Flint's own agent that run without a sandbox run in your editor's terminal (acp.client_terminal). " +
  "Flint does not confine them there.";
const FS_NOTICE =
  "Flint's own agent reads and writes files through your editor (acp.client_fs), unsaved changes included. " +
  "Undo restores the file on disk.";

/** Returns the services of the editor; undefined if it offers none, or the user wants none of them. */
export function editorHost(options: EditorHostOptions): EditorHost | undefined {
  const { use, capabilities, asks, clock, sessionId } = options;
  const hasTerminal = use.terminal && capabilities.terminal;
  // Without reading, a write would replace changes that no one has seen.
  const hasFiles = use.fs && capabilities.readTextFile && capabilities.writeTextFile;
  if (!hasTerminal && !hasFiles) return undefined;
  const requests = new EditorRequests(asks, clock, sessionId);
  const show = (itemId: string, terminalId: string) => options.showTerminal(itemId, terminalId);
  return {
    host: {
      ...(hasTerminal ? { terminal: new EditorTerminal({ requests, clock, show }) } : {}),
      ...(hasFiles ? { files: new EditorFiles(requests) } : {}),
    },
    notices: [...(hasTerminal ? [TERMINAL_NOTICE] : []), ...(hasFiles ? [FS_NOTICE] : [])],
  };
}

/** The files of an editor, with changes that are not saved yet. */
class EditorFiles implements ClientFiles {
  readonly #requests: EditorRequests;

  constructor(requests: EditorRequests) {
    this.#requests = requests;
  }

  async read(path: string, signal: AbortSignal): Promise<string | undefined> {
    // Expected: an editor that does not have the file or keeps to its own folders. What is on the disk counts then.
    try {
      return ReadTextFileResponse.parse(await this.#requests.answer("fs/read_text_file", { path }, signal))
        .content;
    } catch (thrown) {
      if (thrown instanceof RemoteError) return undefined;
      throw thrown;
    }
  }

  async write(path: string, text: string, signal: AbortSignal): Promise<void> {
    await this.#requests.answer("fs/write_text_file", { path, content: text }, signal);
  }
}
