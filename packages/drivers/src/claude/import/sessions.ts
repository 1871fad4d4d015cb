import { previewOf } from "@flint/protocol";
import { stringField } from "../../shared/json.ts";
import {
  SessionFolder,
  type SessionHead,
  type SessionLine,
  sessionPlaceIn,
} from "../../shared/session-files.ts";
import { CLAUDE_TRANSCRIPTS } from "../../shared/sessions/claude-transcripts.ts";
import { conversation, promptOf } from "./conversation.ts";
import { turnsOf } from "./turns.ts";

/** The sessions in Claude's configuration folder. */
export function claudeSessions(folder: string): SessionFolder {
  return new SessionFolder({
    agentName: "Claude Code",
    place: sessionPlaceIn(folder, CLAUDE_TRANSCRIPTS),
    describe: (lines) => describe(conversation(lines)),
    async history(lines, cwd) {
      const transcript = conversation(lines);
      const model = modelOf(transcript);
      return {
        model: model === undefined ? undefined : `claude/${model}`,
        turns: await turnsOf(transcript, cwd),
      };
    },
  });
}

function describe(lines: readonly SessionLine[]): SessionHead {
  const cwd = lines.map((line) => stringField(line, "cwd")).find((path) => path !== undefined) ?? "";
  const prompts = lines.map(promptOf).filter((prompt) => prompt !== undefined);
  return { cwd, preview: previewOf(prompts[0] ?? "") };
}

/** Claude writes `<synthetic>` for messages that no model made. */
function modelOf(lines: readonly SessionLine[]): string | undefined {
  return lines
    .map(({ message }) => stringField(message, "model"))
    .findLast((model) => model !== undefined && !model.startsWith("<"));
}
