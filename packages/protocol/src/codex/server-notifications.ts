import * as z from "zod/mini";
import { foreignObject, notification, nullish } from "../wire/foreign-wire.ts";
import { CODEX_NOTIFICATIONS } from "./notifications.ts";
import { ofThread } from "./requests.ts";
import { CodexGoal, CodexThreadSettings } from "./values.ts";

const thatThread = () => foreignObject(ofThread);

/** Every notification that the Codex front end sends: those that Flint's driver reads, and those for other clients only. */
export const CODEX_SERVER_NOTIFICATIONS = {
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

/** The name of a notification that the Codex front end sends. */
export type CodexServerNotification = keyof typeof CODEX_SERVER_NOTIFICATIONS;
/** The params of such a notification. */
export type CodexServerNotificationParams<Name extends CodexServerNotification> = z.input<
  (typeof CODEX_SERVER_NOTIFICATIONS)[Name]["params"]
>;
