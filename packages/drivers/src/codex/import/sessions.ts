import { join } from "node:path";
import { previewOf } from "@flint/protocol";
import { objectOf, stringField } from "../../shared/json.ts";
import { SessionFolder, type SessionHead, type SessionLine } from "../../shared/session-files.ts";
import { itemsOf, promptIn } from "./items.ts";
import { turnsOf } from "./turns.ts";

const NAME = /^rollout-.*-([0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})\.jsonl$/;

/** The sessions in Codex's home. */
export function codexSessions(folder: string): SessionFolder {
  return new SessionFolder({
    agentName: "Codex",
    place: { root: join(folder, "sessions"), depth: 3, name: NAME },
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
