import type { ResumeMode } from "@flint/protocol";
import * as z from "zod/mini";
import {
  ADDRESS,
  address,
  amount,
  BOOLEAN,
  COUNT,
  type ConfigKey,
  choice,
  count,
  key,
  SECONDS,
  string,
  strings,
} from "./key.ts";

const RESUME_MODES = ["auto", "ask", "never"] as const satisfies readonly ResumeMode[];
const atLeastZero = z.number().check(z.nonnegative());
const QUIET_HOURS = /^([01]\d|2[0-3]):[0-5]\d-([01]\d|2[0-3]):[0-5]\d$/;

/** The keys in `[tasks]`. */
export const TASK_KEYS = {
  "tasks.concurrency": key(count, COUNT, "How many tasks run at once (default: 2).", "user"),
  "tasks.ask_timeout": key(
    amount,
    SECONDS,
    "Turn an agent's question into a question of the task if it has no answer after this time (default: 60).",
    "user",
  ),
  "tasks.resume": key(
    z.enum(RESUME_MODES),
    choice(RESUME_MODES),
    "What a task does at a usage limit: continue after the reset (default), ask you, or fail.",
    "user",
  ),
  "tasks.max_wait": key(
    z.int().check(z.minimum(60), z.maximum(14 * 86_400)),
    "a whole number of seconds from 60 to 1209600",
    "Ask you instead of waiting longer than this for a usage limit to reset (default: a day).",
    "user",
  ),
  "tasks.quiet_hours": key(
    z.string().check(z.regex(QUIET_HOURS)),
    "two times such as 23:00-07:00",
    "Hours in which tasks do not continue after a usage limit, in the server's time zone.",
    "user",
  ),
  "tasks.keep_days": key(
    atLeastZero,
    "a number of days, 0 or more",
    "Remove the worktree of a task this long after the task is done (default: 3). Its commits stay.",
    "user",
  ),
  "tasks.max_worktrees": key(
    count,
    COUNT,
    "How many tasks keep their worktrees; the tasks that were done first lose theirs first (default: 50).",
    "user",
  ),
  "tasks.min_free_mb": key(
    atLeastZero,
    "a number of MiB, 0 or more",
    "Ask you instead of starting a turn with less free disk space than this, in MiB (default: 512).",
    "user",
  ),
  "tasks.desktop_notices": key(
    z.boolean(),
    BOOLEAN,
    "Show a desktop notice when a task waits for you, fails or is done.",
    "user",
  ),
  "tasks.notice_command": key(
    strings,
    "a list with a program and its arguments",
    "Program to run for each notice; FLINT_NOTICE, FLINT_NOTICE_TEXT and FLINT_NOTICE_JSON describe it.",
    "user",
  ),
  "tasks.webhook": key(address, ADDRESS, "URL that each notice is posted to as JSON.", "user"),
  "tasks.webhook_secret_env": key(
    string,
    "the name of an environment variable",
    "Environment variable with the secret that signs what is posted (X-Flint-Signature, HMAC-SHA256).",
    "user",
  ),
  "tasks.redis": key(
    z.url({ protocol: /^(?:rediss?|unix)$/ }),
    "an address such as redis://host:6379, rediss://user:password@host or unix:/path/to.sock",
    "Redis that keeps the tasks of a fleet; tasks are kept on this machine if absent.",
    "user",
  ),
  "tasks.remote": key(
    string,
    "the name of a git remote, such as origin, or an address",
    "Default remote through which workers get the repository of a task; needed if they have it at another path.",
    "user",
  ),
  "tasks.events_stream": key(
    string,
    "the name of a Redis key",
    "Redis stream that gets the events of tasks for other programs (default: agm:events:stream).",
    "user",
  ),
  "tasks.events_max": key(
    count,
    COUNT,
    "Approximate number of events that the stream keeps; older ones are removed (default: 100000).",
    "user",
  ),
  "tasks.trust": key(
    z.array(z.string().check(z.regex(/^flint-key:[A-Za-z0-9_-]{43}$/))),
    "a list of keys, as flint tasks key prints them",
    "Keys of other machines of the fleet whose tasks you can review and approve here; workers use --trust.",
    "user",
  ),
  "tasks.namespace": key(string, "a name", "Fleet within that Redis (default: default).", "user"),
} as const satisfies Record<string, ConfigKey>;
