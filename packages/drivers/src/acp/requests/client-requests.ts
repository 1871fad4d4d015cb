import type { Sandbox } from "@flint/core/ports";
import type { UnifiedDiff } from "@flint/host/files";
import { listOf, stringOf } from "@flint/protocol";
import { type JsonObject, objectOf } from "../../shared/json.ts";
import { RequestRefusal } from "../process/connection.ts";
import type { AcpProfile } from "../profile.ts";
import { WorkspaceFiles } from "./files.ts";
import type { RequestContext } from "./permissions.ts";
import { Terminals } from "./terminals.ts";

/**
 * The client side of the protocol: files of the workspace, and terminals where the agent's profile offers them. Nothing
 * is done here that the agent's own process could not do within the thread's sandbox.
 */
export class ClientRequests {
  readonly #files: WorkspaceFiles;
  readonly #terminals: Terminals | undefined;

  constructor(sandbox: Sandbox, { offersTerminals }: AcpProfile, diff: UnifiedDiff) {
    this.#files = new WorkspaceFiles(sandbox, diff);
    this.#terminals = offersTerminals ? new Terminals(sandbox) : undefined;
  }

  /** Answers a request. Rejects with a RequestRefusal. */
  async answer(method: string, params: JsonObject, context: RequestContext): Promise<unknown> {
    if (method === "fs/read_text_file") return this.#files.read(params, context);
    if (method === "fs/write_text_file") return this.#files.write(params, context);
    if (method.startsWith("terminal/") && this.#terminals !== undefined)
      return this.#terminals.answer(method, params, context);
    throw new RequestRefusal("methodNotFound", `Flint does not support ${method}.`);
  }

  /** Streams the output of the terminals that an update embeds into its tool call. */
  embedTerminals(update: JsonObject, onOutput: (toolCallId: string, text: string) => void): void {
    const toolCallId = stringOf(update.toolCallId);
    if (this.#terminals === undefined || toolCallId === undefined) return;
    for (const part of listOf(update.content)) {
      const terminalId = stringOf(objectOf(part).terminalId);
      if (terminalId !== undefined)
        this.#terminals.subscribe(terminalId, toolCallId, (text) => onOutput(toolCallId, text));
    }
  }

  /** Stops every command that the agent still runs here. */
  async stopTerminals(): Promise<void> {
    await this.#terminals?.stopAll();
  }
}
