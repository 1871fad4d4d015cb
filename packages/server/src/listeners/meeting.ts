import { FRONTEND_NAMES } from "../frontends.ts";

/** Said to whoever asks for a door that is not there. */
export function noSuchDoor(name: string): string {
  return `There is no door ${JSON.stringify(name)}; there are ${FRONTEND_NAMES.join(", ")}.`;
}
