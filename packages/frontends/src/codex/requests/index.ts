import { CODEX_VERSION, type CodexClientRequest } from "@flint/protocol/codex";
import { account } from "../host/account.ts";
import { config } from "../host/config.ts";
import { lists } from "../host/lists.ts";
import { machine } from "../host/machine.ts";
import type { Handler, Handlers } from "./handler.ts";
import { history } from "./history.ts";
import { models } from "./models.ts";
import { openThread } from "./open-thread.ts";
import { queue } from "./queue.ts";
import { threads } from "./threads.ts";
import { turns } from "./turns.ts";

/** Answers with the version of Codex whose protocol this is, so that clients take Flint for it. */
const initialize: Handler<"initialize"> = (_params, context, { host, info }) => {
  const { name, version } = info;
  context.reply({
    userAgent: `${name}/${CODEX_VERSION} (flint) (${name}; ${version})`,
    codexHome: host.home,
    platformFamily: process.platform === "win32" ? "windows" : "unix",
    platformOs: process.platform === "darwin" ? "macos" : process.platform,
  });
};

/** How each request of a Codex client is answered. */
export const REQUESTS: Handlers<CodexClientRequest> = {
  initialize,
  ...openThread,
  ...history,
  ...threads,
  ...queue,
  ...turns,
  ...models,
  ...account,
  ...lists,
  ...machine,
  ...config,
};
