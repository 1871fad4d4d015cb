import type { Turn } from "@flint/protocol";
import type { CodexClientParams, CodexClientResult } from "@flint/protocol/codex";
import { turnsPage } from "./pages.ts";
import { listedTurn } from "./turns.ts";
import type { Visit } from "./visit.ts";

type Page = CodexClientResult<"thread/turns/list">;
type Wanted = NonNullable<CodexClientParams<"thread/resume">["initialTurnsPage"]>;

/** The page of turns that a client wants with a thread that it resumes; null if it wants none. */
export async function firstPage(
  { threadId, initialTurnsPage: wanted }: CodexClientParams<"thread/resume">,
  visit: Visit,
): Promise<{ asOf(latest: readonly Turn[]): Page } | null> {
  if (wanted == null) return null;
  const page = await turnsPage({ threadId, ...wanted }, visit);
  return { asOf: (latest) => pageAsOf(page, wanted, latest) };
}

/** A page that was read before a client followed the thread, with the latest turns as they are since it does. */
export function pageAsOf(page: Page, wanted: Wanted, latest: readonly Turn[]): Page {
  const told = latest.map((turn) => listedTurn(turn, wanted.itemsView ?? "summary"));
  const data = page.data.map((turn) => told.find(({ id }) => id === turn.id) ?? turn);
  const isBackwards = wanted.sortDirection !== "asc";
  const newest = isBackwards ? data[0] : data.at(-1);
  // What began since then; turns before the newest one of the page are on others.
  const begun = told.slice(told.findIndex(({ id }) => id === newest?.id) + 1);
  if (isBackwards) return { ...page, data: [...begun.reverse(), ...data] };
  return page.nextCursor === null ? { ...page, data: [...data, ...begun] } : { ...page, data };
}
