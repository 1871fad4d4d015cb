import { previewOf } from "@flint/protocol";
import { objectOf, stringField } from "../../shared/json.ts";
import {
  SessionFolder,
  type SessionHead,
  type SessionLine,
  sessionPlaceIn,
} from "../../shared/session-files.ts";
import { CODEX_TRANSCRIPTS } from "../../shared/sessions/codex-transcripts.ts";
import { itemsOf, promptIn } from "./items.ts";
import { turnsOf } from "./turns.ts";

/** The sessions in Codex's home. */
export function codexSessions(folder: string): SessionFolder {
  return new SessionFolder({
    agentName: "Codex",
    place: sessionPlaceIn(folder, CODEX_TRANSCRIPTS),
    isListed: (lines) => !isSubAgent(lines),
    describe,
    async history(lines, cwd) {
      const model = modelOf(lines);
      return { model: model === undefined ? undefined : `codex/${model}`, turns: turnsOf(lines, cwd) };
    },
  });
}

function metaOf(lines: readonly SessionLine[]): Readonly<Record<string, unknown>> {
  return objectOf(lines.find(({ type }) => type === "session_meta")?.payload);
}

function isSubAgent(lines: readonly SessionLine[]): boolean {
  const { source } = metaOf(lines);
  return typeof source === "object" && source !== null && "subagent" in source;
}

function describe(lines: readonly SessionLine[]): SessionHead {
  const cwd = stringField(metaOf(lines), "cwd") ?? "";
  const [prompt = ""] = lines.flatMap((line) => itemsOf(line, cwd)).flatMap(promptIn);
  return { cwd, preview: previewOf(prompt) };
}

function modelOf(lines: readonly SessionLine[]): string | undefined {
  return lines
    .filter(({ type }) => type === "turn_context")
    .map(({ payload }) => stringField(payload, "model"))
    .findLast((name) => name !== undefined);
}
