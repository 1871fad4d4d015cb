import { objectOf } from "../json.ts";
import type { TranscriptClaim, TranscriptLine, Transcripts } from "./transcripts.ts";
import { lineWithModes } from "./transcripts.ts";

const READ_ALL = { path: { type: "special", value: { kind: "root" } }, access: "read" };

/** The fields of Codex's read-only mode, in which it asks about everything beyond (0.166.0). */
const MODES = new Map<string, unknown>([
  ["approvalpolicy", "on-request"],
  ["approvalsreviewer", "user"],
  ["sandboxpolicy", { type: "read-only" }],
  [
    "permissionprofile",
    {
      type: "managed",
      file_system: { type: "restricted", entries: [READ_ALL] },
      network: "restricted",
    },
  ],
  // What follows from the profile is not repeated, and no plugins are loaded from folders that the session names.
  ...[
    ...["sandboxmode", "activepermissionprofile", "filesystemsandboxpolicy", "networksandboxpolicy"],
    "selectedcapabilityroots",
  ].map((name) => [name, undefined] as const),
]);

/** Codex starts the programs that the settings of the folder name in which it resumes. */
function foldersOf(cwd: string): [string, unknown][] {
  return [
    ["cwd", cwd],
    ["workspaceroots", [cwd]],
    ["runtimeworkspaceroots", [cwd]],
  ];
}

/** The sessions of Codex 0.166, by date. Resumed outside of Flint, one has the mode of its last turn. */
export const CODEX_TRANSCRIPTS: Transcripts = {
  folder: "sessions",
  depth: 3,
  name: /^rollout-.*-([0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})\.jsonl$/,
  published(lines, claim) {
    if (!isClaimed(lines, claim)) return undefined;
    const modes = new Map([...MODES, ...foldersOf(claim.cwd)]);
    return lines.map((line) => lineWithModes(line, modes));
  },
};

function isClaimed([first]: readonly TranscriptLine[], { id, cwd, isContinued }: TranscriptClaim): boolean {
  if (isContinued) return true;
  const about = objectOf(first?.payload);
  return first?.type === "session_meta" && about.id === id && about.cwd === cwd;
}
