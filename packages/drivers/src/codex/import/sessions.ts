import { join } from "node:path";
import type { NativeHistory, NativeSessionInfo, NativeSessions } from "@flint/core/ports";
import { objectOf, stringField } from "../../shared/json.ts";
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
import { itemsOf, promptIn } from "./items.ts";
import { turnsOf } from "./turns.ts";

const NAME = /^rollout-.*-([0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})\.jsonl$/;

/** The sessions in Codex's own folder. */
export class CodexSessions implements NativeSessions {
  readonly #place: SessionPlace;

  /** `folder` is Codex's home. */
  constructor(folder: string) {
    this.#place = { root: join(folder, "sessions"), depth: 3, name: NAME };
  }

  /** Without the sessions of sub-agents, which belong to that of their agent. */
  async list(limit: number): Promise<readonly NativeSessionInfo[]> {
    const files = (await sessionFiles(this.#place)).slice(0, limit);
    const heads = await Promise.all(files.map(async (file) => [file, await sessionHead(file)] as const));
    return heads
      .filter(([, lines]) => !isSubAgent(lines))
      .map(([file, lines]) => describe(file, lines))
      .filter(({ cwd }) => cwd !== "");
  }

  async read(id: string): Promise<NativeHistory> {
    const file = await sessionFile(this.#place, "Codex", id);
    const { lines, unreadable } = await readSession(file, this.#place);
    const session = describe(file, lines);
    const model = lines
      .filter(({ type }) => type === "turn_context")
      .map(({ payload }) => stringField(payload, "model"))
      .findLast((name) => name !== undefined);
    return {
      session,
      model: model === undefined ? undefined : `codex/${model}`,
      turns: turnsOf(lines, session.cwd),
      notes: unreadableNote(unreadable),
    };
  }
}

function metaOf(lines: readonly SessionLine[]): Readonly<Record<string, unknown>> {
  return objectOf(lines.find(({ type }) => type === "session_meta")?.payload);
}

function isSubAgent(lines: readonly SessionLine[]): boolean {
  const { source } = metaOf(lines);
  return typeof source === "object" && source !== null && "subagent" in source;
}

function describe({ id, updatedAtMs }: SessionFile, lines: readonly SessionLine[]): NativeSessionInfo {
  const cwd = stringField(metaOf(lines), "cwd") ?? "";
  const [prompt = ""] = lines.flatMap((line) => itemsOf(line, cwd)).flatMap(promptIn);
  return { id, cwd, preview: previewOf(prompt), updatedAt: Math.floor(updatedAtMs / 1000) };
}
