import type { CodexHostRequest } from "@flint/protocol/codex";
import type { Handlers } from "../visit.ts";
import { account } from "./account.ts";
import { lists } from "./lists.ts";
import { machine } from "./machine.ts";
import { settings } from "./settings.ts";

/** What clients ask about the machine, the account and the settings. */
export const hostRequests: Handlers<CodexHostRequest | "account/read" | "mcpServerStatus/list"> = {
  ...account,
  ...lists,
  ...machine,
  ...settings,
};
