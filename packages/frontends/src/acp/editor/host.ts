import type { ClientHost, Clock } from "@flint/core/ports";
import type { ClientAsks } from "../../shared/client-asks.ts";
import type { ClientCapabilities } from "../capabilities.ts";
import { EditorFiles } from "./files.ts";
import { EditorRequests } from "./requests.ts";
import { EditorTerminal } from "./terminal.ts";

/** What the user wants editors to do themselves. */
export interface EditorUse {
  /** Run the commands that nothing confines, in terminals of the editor. */
  readonly terminal: boolean;
  /** Read and write files. */
  readonly fs: boolean;
}

/** What an editor does itself in one session, and the sentences that tell its user. */
export interface OfferedHost {
  readonly host: ClientHost;
  readonly notices: readonly string[];
}

/** What a session's host is made with. */
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
  "Undo brings back what was on the disk.";

/** What the editor does itself; undefined if it offers nothing, or the user wants nothing of it. */
export function editorHost(options: EditorHostOptions): OfferedHost | undefined {
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
