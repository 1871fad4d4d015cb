import type { TaskOptions } from "../server-options.ts";
import { variable } from "./environment.ts";
import { ConfigError, type ConfigValues } from "./parse.ts";

/** The settings for tasks in a user's configuration. Throws a ConfigError if the secret of a webhook is missing. */
export function taskSettings(config: ConfigValues): TaskOptions {
  const askSeconds = config.get("tasks.ask_timeout");
  const webhook = webhookOf(config);
  return {
    concurrency: config.get("tasks.concurrency"),
    askMs: askSeconds === undefined ? undefined : askSeconds * 1000,
    limits: limitsOf(config),
    remote: config.get("tasks.remote"),
    disk: {
      keepDays: config.get("tasks.keep_days"),
      maxWorktrees: config.get("tasks.max_worktrees"),
      minFreeMb: config.get("tasks.min_free_mb"),
    },
    notices: {
      desktop: config.get("tasks.desktop_notices"),
      command: config.get("tasks.notice_command"),
      webhook,
    },
  };
}

function limitsOf(config: ConfigValues): TaskOptions["limits"] {
  const resume = config.get("tasks.resume");
  const maxWaitSeconds = config.get("tasks.max_wait");
  const [from, to] = config.get("tasks.quiet_hours")?.split("-") ?? [];
  return {
    ...(resume === undefined ? {} : { resume }),
    ...(maxWaitSeconds === undefined ? {} : { maxWaitSeconds }),
    ...(from === undefined || to === undefined ? {} : { quietHours: { from, to } }),
  };
}

function webhookOf(config: ConfigValues): NonNullable<TaskOptions["notices"]>["webhook"] {
  const url = config.get("tasks.webhook");
  const name = config.get("tasks.webhook_secret_env");
  if (url === undefined) return undefined;
  const secret = name === undefined ? undefined : variable(name);
  if (name !== undefined && secret === undefined)
    throw new ConfigError(`tasks.webhook_secret_env names ${name}, which is not set.`);
  return { url, secret };
}
