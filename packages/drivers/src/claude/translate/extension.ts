import type { DriverEvent } from "@flint/core/ports";

/** What one event may carry; what is more is left to Claude's own log. */
const MOST_CHARACTERS = 16_384;

/** Something of Claude's that Flint has no word for, within bounds. */
export function extension(name: string, fields: Readonly<Record<string, unknown>>): DriverEvent {
  const { type: _type, uuid: _uuid, session_id: _session, ...params } = fields;
  const size = JSON.stringify(params).length;
  const kept = size <= MOST_CHARACTERS ? params : { omittedCharacters: size };
  return { type: "extension", method: `claude/${name}`, params: kept };
}
