import { dirname } from "node:path";

/** Fields that differ from one run to the next and mean nothing. */
const DROPPED: ReadonlySet<string> = new Set([
  ...["timestamp", "duration_ms", "duration_api_ms", "ttft_ms", "ttft_stream_ms", "time_to_request_ms"],
  ...[
    "signature",
    "slash_commands",
    "skills",
    "plugins",
    "agents",
    "retry_delay_ms",
    "inference_geo",
    "memory_paths",
  ],
]);

/** Maximum number of entries of a list of names that are recorded. */
const MAX_NAMES = 3;

/**
 * Returns the frames that Claude wrote, with varying parts replaced: ids are counted, and the workspace has a
 * name.
 */
export function recordedFrames(lines: readonly string[], workspace: string): unknown[] {
  const names = new Map<string, string>();
  const named = (id: string) => {
    const name = names.get(id) ?? `id-${names.size + 1}`;
    names.set(id, name);
    return name;
  };
  const steady = (text: string) =>
    text
      // Streamed arguments may break off within the path.
      .replaceAll(dirname(workspace), "")
      .replace(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}|msg_[0-9a-f]{32}|\ba[0-9a-f]{16}\b/g, named);
  return lines
    .filter((line) => line.startsWith("<- ") && !line.includes('"type":"control_'))
    .map((line): unknown => JSON.parse(steady(line.slice(3)), withoutNoise));
}

function withoutNoise(key: string, value: unknown): unknown {
  if (DROPPED.has(key)) return undefined;
  return key === "tools" && Array.isArray(value) ? value.slice(0, MAX_NAMES) : value;
}
