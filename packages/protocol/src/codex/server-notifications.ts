import * as z from "zod/mini";
import { foreignObject, notification, nullish } from "../wire/foreign-wire.ts";
import { CODEX_NOTIFICATIONS } from "./notifications.ts";
import { ofThread } from "./requests.ts";
import { CodexGoal, CodexThreadSettings } from "./values.ts";

const thatThread = () => foreignObject(ofThread);

/** Every notification that the Codex front end sends: those that Flint's driver reads, and those for other clients only. */
export const CODEX_SERVER_NOTIFICATIONS = {
  ...CODEX_NOTIFICATIONS,
  "thread/settings/updated": notification("The settings of a thread changed.", () =>
    foreignObject({ ...ofThread, threadSettings: CodexThreadSettings }),
  ),
  "thread/name/updated": notification("The name of a thread changed.", () =>
    foreignObject({ ...ofThread, threadName: nullish(z.string()) }),
  ),
  "thread/archived": notification("A thread was archived.", thatThread),
  "thread/unarchived": notification("A thread was unarchived.", thatThread),
  "thread/deleted": notification("A thread was deleted.", thatThread),
  "thread/reverted": notification("Turns of a thread were reverted or restored.", thatThread),
  "thread/goal/updated": notification("The goal of a thread was set or changed.", () =>
    foreignObject({ ...ofThread, turnId: nullish(z.string()), goal: CodexGoal }),
  ),
  "thread/goal/cleared": notification("The goal of a thread was cleared.", thatThread),
  "thread/queue/changed": notification("The queued inputs of a thread changed.", thatThread),
} as const;

/** The name of a notification that the Codex front end sends. */
export type CodexServerNotification = keyof typeof CODEX_SERVER_NOTIFICATIONS;
/** The params of such a notification. */
export type CodexServerNotificationParams<Name extends CodexServerNotification> = z.input<
  (typeof CODEX_SERVER_NOTIFICATIONS)[Name]["params"]
>;
