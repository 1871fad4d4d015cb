import type { Sandbox } from "@flint/core/ports";
import type { UnifiedDiff } from "@flint/host/files";
import { RequestRefusal } from "../process/request-refusal.ts";
import type { AcpProfile } from "../profiles.ts";
import { type JsonObject, listOf, objectOf, stringOf } from "../wire.ts";
import type { Desk } from "./desk.ts";
import { FileService } from "./files.ts";
import { Terminals } from "./terminals.ts";

/**
 * What Flint does for an agent on its request: files of the workspace, and commands where its profile allows that.
 * Nothing is done here that the agent's own process could not do within the thread's policy.
 */
export class ClientServices {
  readonly #files: FileService;
  readonly #terminals: Terminals | undefined;

  constructor(sandbox: Sandbox, profile: AcpProfile, diff: UnifiedDiff) {
    this.#files = new FileService(sandbox, diff);
    this.#terminals = profile.terminal ? new Terminals(sandbox) : undefined;
  }

  /** Answers a request. Rejects with a RequestRefusal. */
  async answer(method: string, params: JsonObject, desk: Desk): Promise<unknown> {
    switch (method) {
      case "fs/read_text_file":
        return this.#files.read(params, desk);
      case "fs/write_text_file":
        return this.#files.write(params, desk);
      default:
        if (method.startsWith("terminal/") && this.#terminals !== undefined)
          return this.#terminals.answer(method, params, desk);
        throw new RequestRefusal("methodNotFound", `Flint does not know ${method}.`);
    }
  }

  /** Lets the output of terminals that an update shows appear in its call. */
  link(update: JsonObject, printed: (toolCallId: string, text: string) => void): void {
    const toolCallId = stringOf(update.toolCallId);
    if (this.#terminals === undefined || toolCallId === undefined) return;
    for (const part of listOf(update.content)) {
      const terminalId = stringOf(objectOf(part).terminalId);
      if (terminalId !== undefined)
        this.#terminals.follow(terminalId, toolCallId, (text) => printed(toolCallId, text));
    }
  }

  /** Ends every command that an agent still has here. */
  async stopTerminals(): Promise<void> {
    await this.#terminals?.stopAll();
  }
}
