import * as z from "zod/mini";
import { foreignObject, notification, nullish } from "../wire/foreign-wire.ts";
import { CODEX_NOTIFICATIONS } from "./notifications.ts";
import { ofThread } from "./requests.ts";
import { CodexGoal, CodexThreadSettings } from "./values.ts";

const thatThread = () => foreignObject(ofThread);

/** Every notification that the Codex door sends: those that Flint understands, and those that only its clients do. */
export const CODEX_DOOR_NOTIFICATIONS = {
  ...CODEX_NOTIFICATIONS,
  "thread/settings/updated": notification("What a thread works with has changed.", () =>
    foreignObject({ ...ofThread, threadSettings: CodexThreadSettings }),
  ),
  "thread/name/updated": notification("A thread has a new name.", () =>
    foreignObject({ ...ofThread, threadName: nullish(z.string()) }),
  ),
  "thread/archived": notification("A thread was put away.", thatThread),
  "thread/unarchived": notification("A thread was taken out of the archive.", thatThread),
  "thread/deleted": notification("A thread is gone.", thatThread),
  "thread/reverted": notification("Turns of a thread were dropped.", thatThread),
  "thread/goal/updated": notification("A thread has a goal, or another one.", () =>
    foreignObject({ ...ofThread, turnId: nullish(z.string()), goal: CodexGoal }),
  ),
  "thread/goal/cleared": notification("A thread has no goal.", thatThread),
  "thread/queue/changed": notification("Other inputs wait than before.", thatThread),
} as const;

/** The name of a notification that the Codex door sends. */
export type CodexDoorNotification = keyof typeof CODEX_DOOR_NOTIFICATIONS;
/** What a notification of the Codex door carries. */
export type CodexDoorTold<Name extends CodexDoorNotification> = z.input<
  (typeof CODEX_DOOR_NOTIFICATIONS)[Name]["params"]
>;
