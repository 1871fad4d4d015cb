import * as z from "zod/mini";
import { looseObject } from "../wire/loose-object.ts";

/** The Redis stream of such events that readers know, unless another one is configured. */
export const EVENT_STREAM = "agm:events:stream";

/** The names of the events that other programs read about tasks, as agm has them. */
export const PublishedEventType = z.enum([
  "task:turn",
  "task:item_started",
  "task:item_completed",
  "task:plan_updated",
  "task:turn_diff",
  "task:token_usage",
  "task:thread_status",
  "task:model_rerouted",
  "task:backend_error",
  "task:backend_warning",
  "task:execution_fallback",
  "task:heartbeat",
  "session:message",
]);
export type PublishedEventType = z.output<typeof PublishedEventType>;

/**
 * The thread and turn of a role, in every event of a task. `active_turn_id` is null between turns, and
 * `thread_id` only for an agent that could not open a thread.
 */
export const ThreadContext = looseObject(() => ({
  thread_id: z.nullable(z.string()),
  thread_status: z.string(),
  active_turn_id: z.nullable(z.string()),
  /** To the second, in UTC. */
  last_turn_event_at: z.string(),
  owner_role: z.enum(["executor", "reviewer"]),
  model: z.string(),
  /** The provider that serves the model, such as `anthropic`. */
  provider: z.string(),
  /** True if the running turn got a message while it ran. */
  has_active_steer: z.boolean(),
  run_id: z.string(),
  /** Counts the turns of the run from 1. */
  turn_sequence: z.int(),
}));
export type ThreadContext = z.output<typeof ThreadContext>;

/** An event of a task as other programs get it. What is in `extra` is at the top level too: there are readers of both. */
export const PublishedEvent = looseObject(() => ({
  event_id: z.string(),
  type: PublishedEventType,
  /** The task, or the channel of a message. */
  id: z.string(),
  /** The channel. */
  plan_id: z.string(),
  /** The folder of the work. */
  project: z.string(),
  status: z.string(),
  source: z.enum(["worker", "cli"]),
  v: z.literal(1),
  ts: z.string(),
  extra: z.record(z.string(), z.unknown()),
}));
/** Also has what is in `extra`. */
export type PublishedEvent = Readonly<z.output<typeof PublishedEvent>> & { readonly [name: string]: unknown };

/** The channel of a task: the one that it was added to, or one of its own. */
export function channelOf(id: string, channel: string | undefined): string {
  return channel ?? id;
}
