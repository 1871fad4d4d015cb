import {
  DEFAULT_STATUS_LINE,
  isStatusPart,
  STATUS_PART_NAMES,
  STATUS_PARTS,
  type StatusPart,
} from "@flint/view/commands";
import { keyIn } from "../../pages/key-name.ts";
import type { Session } from "../session.ts";

/** Sets the status line to the parts that are named, or lets the user choose them. */
export function changeStatusLine(session: Session, requested: string): void {
  const names = requested.split(/[\s,]+/).filter((name) => name !== "");
  if (names.length === 0) chooseParts(session, 0);
  else if (requested === "default") useStatusLine(session, DEFAULT_STATUS_LINE);
  else {
    const unknown = names.find((name) => !isStatusPart(name));
    if (unknown === undefined) useStatusLine(session, [...new Set(names.filter(isStatusPart))]);
    else session.say(`${unknown} is not part of a status line. Parts: ${STATUS_PART_NAMES.join(", ")}.`);
  }
}

/** Shows these parts, now and in later sessions. */
function useStatusLine(session: Session, parts: readonly StatusPart[]): void {
  session.statusLine.parts = parts;
  session.run(() => session.machine.setConfig("status_line", parts));
  session.run(() => session.statusLine.load());
}

/** Those that are shown come first, in their order. A part that is added comes last. */
function chooseParts(session: Session, selected: number): void {
  const shown = session.statusLine.parts;
  const rest = STATUS_PART_NAMES.filter((part) => !shown.includes(part));
  const toggle = (part: StatusPart) => {
    const isShown = shown.includes(part);
    const next = isShown ? shown.filter((other) => other !== part) : [...shown, part];
    useStatusLine(session, next);
    const order = [...next, ...STATUS_PART_NAMES.filter((other) => !next.includes(other))];
    chooseParts(session, order.indexOf(part));
  };
  session.openMenu(
    {
      title: `Status line: ${keyIn(session.look, "menuAccept")} adds or removes`,
      items: [...shown, ...rest].map((part) => ({
        label: part,
        detail: STATUS_PARTS[part],
        isCurrent: shown.includes(part),
        choose: () => toggle(part),
      })),
    },
    selected,
  );
}
