import { join } from "node:path";
import type { NativeHistory, NativeSessionInfo, NativeSessions } from "@flint/core/ports";
import { stringField } from "../../shared/json.ts";
import {
  previewOf,
  readSession,
  type SessionFile,
  type SessionLine,
  type SessionPlace,
  sessionFile,
  sessionFiles,
  sessionHead,
  unreadableNote,
} from "../../shared/session-files.ts";
import { conversation, promptOf } from "./conversation.ts";
import { turnsOf } from "./turns.ts";

const NAME = /^([0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})\.jsonl$/;

/** The sessions in Claude's own folder. */
export class ClaudeSessions implements NativeSessions {
  readonly #place: SessionPlace;

  /** `folder` is Claude's configuration folder. */
  constructor(folder: string) {
    this.#place = { root: join(folder, "projects"), depth: 1, name: NAME };
  }

  async list(limit: number): Promise<readonly NativeSessionInfo[]> {
    const files = (await sessionFiles(this.#place)).slice(0, limit);
    const described = await Promise.all(files.map(async (file) => describe(file, await sessionHead(file))));
    return described.filter(({ cwd }) => cwd !== "");
  }

  async read(id: string): Promise<NativeHistory> {
    const file = await sessionFile(this.#place, "Claude Code", id);
    const { lines, unreadable } = await readSession(file, this.#place);
    const spoken = conversation(lines);
    const session = describe(file, spoken);
    const model = modelOf(spoken);
    return {
      session,
      model: model === undefined ? undefined : `claude/${model}`,
      turns: await turnsOf(spoken, session.cwd),
      notes: unreadableNote(unreadable),
    };
  }
}

function describe({ id, updatedAtMs }: SessionFile, lines: readonly SessionLine[]): NativeSessionInfo {
  const cwd = lines.map((line) => stringField(line, "cwd")).find((path) => path !== undefined) ?? "";
  const prompts = lines.map(promptOf).filter((prompt) => prompt !== undefined);
  return { id, cwd, preview: previewOf(prompts[0] ?? ""), updatedAt: Math.floor(updatedAtMs / 1000) };
}

/** Claude writes `<synthetic>` for messages that no model made. */
function modelOf(lines: readonly SessionLine[]): string | undefined {
  return lines
    .map(({ message }) => stringField(message, "model"))
    .findLast((model) => model !== undefined && !model.startsWith("<"));
}
