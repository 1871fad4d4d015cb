import { oneLine } from "@flint/view";
import type { Session } from "../session.ts";

/** Lets the user search earlier prompts of all sessions; the chosen one is put into the composer. */
export function searchHistory(session: Session): void {
  const prompts = session.help.earlier();
  if (prompts.length === 0) {
    session.say("There are no earlier prompts.");
    return;
  }
  session.openMenu({
    title: "Earlier prompts",
    items: prompts.map((text) => ({
      label: oneLine(text),
      choose: () => session.composer.setText(text),
    })),
  });
}
