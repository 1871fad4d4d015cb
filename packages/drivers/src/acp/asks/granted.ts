import { resolve } from "node:path";
import { commandOf, diffsOf, type ToolCall } from "../translate/tool-call.ts";
import { commandPlace, type ToolPlace } from "../translate/tool-item.ts";
import { stringOf } from "../wire.ts";

/** What the user allowed in a turn, exactly: whoever was allowed to do a thing is not asked for its second half. */
export class AllowedWork {
  readonly #done = new Set<string>();

  /** Notes that a call may be made. */
  note(call: ToolCall, place: ToolPlace): void {
    if (call.kind === "execute" && commandOf(call) !== undefined) {
      const { command, cwd } = commandPlace(call, place);
      this.#done.add(keyOf(command, cwd));
    }
    for (const { path, oldText, newText } of diffsOf(call)) {
      const whole = resolve(place.cwd, String(path));
      if (typeof newText === "string") this.#done.add(keyOf(whole, stringOf(oldText) ?? "", newText));
    }
  }

  /** Whether exactly this command was allowed in this folder. */
  hasCommand(command: string, cwd: string): boolean {
    return this.#done.has(keyOf(command, cwd));
  }

  /** Whether it was allowed to turn the whole text of this file into this one. */
  hasWrite(path: string, before: string, after: string): boolean {
    return this.#done.has(keyOf(path, before, after));
  }
}

function keyOf(...parts: readonly string[]): string {
  return JSON.stringify(parts);
}
