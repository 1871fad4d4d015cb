import type { EventBody, ThreadSettings } from "@flint/protocol";

/**
 * Describes a client's change of a thread, with its name. Undefined for events that no client has caused by a
 * change.
 */
export function changeNotice(
  event: EventBody,
  describePermissions: (settings: ThreadSettings) => string,
): string | undefined {
  if (!("client" in event.data) || event.data.client === undefined) return undefined;
  const by = `by ${event.data.client}`;
  switch (event.type) {
    case "thread/reverted": {
      const count = event.data.turnIds.length;
      const files = event.data.files === "restore" ? "files restored" : "files kept";
      return `${count} ${count === 1 ? "turn" : "turns"} removed ${by}, ${files}.`;
    }
    case "thread/revert/undone":
      return `Rewind undone ${by}; turns restored: ${event.data.turns.length}.`;
    case "thread/settings/updated": {
      const { settings } = event.data;
      return `Settings changed ${by}: ${settings.model}, permissions: ${describePermissions(settings)}.`;
    }
    case "thread/goal/updated":
      return `Goal set ${by}: ${event.data.goal.objective}`;
    case "thread/goal/cleared":
      return `Goal cleared ${by}.`;
    case "thread/name/updated":
      return `Thread named "${event.data.name}" ${by}.`;
    case "thread/archived":
      return `Thread archived ${by}.`;
    case "thread/unarchived":
      return `Thread unarchived ${by}.`;
    case "turn/completed":
      return `Interrupted ${by}.`;
    default:
      return undefined;
  }
}
