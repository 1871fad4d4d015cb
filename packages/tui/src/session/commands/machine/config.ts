import { escapeControls, shortFolder } from "@flint/view";
import { isTheme } from "@flint/view/commands";
import type { SessionContext } from "../../context.ts";
import type { ConfigKey } from "../../machine.ts";

/** The text that is typed in place of a value to remove a key. */
export const UNSET = "unset";

/** `/config` shows what the configuration files set, and where; `/config KEY VALUE` changes a key of the user's own file. */
export function changeConfig(session: SessionContext, given: string): void {
  session.run(async () => {
    const keys = await session.machine.configuration();
    const [name = "", ...rest] = given.split(/\s+/);
    const key = keys.find((each) => each.name === name);
    const typed = given.slice(name.length).trim();
    if (name === "") listKeys(session, keys);
    else if (rest.length > 0) await change(session, key ?? { name, lockedBy: undefined }, typed);
    else if (key === undefined)
      session.say(`No key ${name} is set. /config lists all; /config ${name} VALUE sets it.`);
    else choose(session, key);
  });
}

/** Those that are set come first. */
function listKeys(session: SessionContext, keys: readonly ConfigKey[]): void {
  const set = keys.filter(({ value }) => value !== undefined);
  const rest = keys.filter(({ value }) => value === undefined);
  session.openMenu(
    {
      title: `Configuration: ${set.length} of ${keys.length} keys set`,
      items: [...set, ...rest].map((key) => ({
        label: escapeControls(key.value === undefined ? key.name : `${key.name} = ${key.value}`),
        detail: escapeControls(aboutKey(session, key)),
        choose: () => choose(session, key),
      })),
    },
    0,
  );
}

function aboutKey({ machine }: SessionContext, { doc, source, lockedBy }: ConfigKey): string {
  if (source === undefined) return doc;
  const from = shortFolder(source, machine.home);
  const lock = lockedBy === undefined ? [] : [`locked by ${lockedBy}`];
  const where = source === lockedBy ? lock : [from, ...lock];
  return `${where.join(", ")}  ${doc}`;
}

/** A key with a few values opens them; others are typed after its name. */
function choose(session: SessionContext, key: ConfigKey): void {
  const { name, choices, value, takes } = key;
  if (key.lockedBy !== undefined) session.say(whyLocked(name, key.lockedBy));
  else if (choices.length === 0) {
    session.composer.setText(`/config ${name} ${value ?? ""}`);
    session.say(escapeControls(`${name}: ${takes}.${value === undefined ? "" : ` ${UNSET} removes it.`}`));
  } else {
    const set = (typed: string) => () => session.run(() => change(session, key, typed));
    session.openMenu({
      title: escapeControls(`${name}: ${key.doc}`),
      items: [
        // Enter twice must not set the first value, which may be the least safe one.
        ...(value === undefined ? [{ label: "not set", isCurrent: true, choose: () => undefined }] : []),
        ...choices.map((choice) => ({
          label: choice,
          isCurrent: choice === value,
          choose: set(choice),
        })),
        ...(value === undefined ? [] : [{ label: UNSET, detail: "removes it", choose: set(UNSET) }]),
      ],
    });
  }
}

async function change(
  session: SessionContext,
  { name, lockedBy }: Pick<ConfigKey, "name" | "lockedBy">,
  typed: string,
): Promise<void> {
  if (lockedBy !== undefined) return session.say(whyLocked(name, lockedBy));
  const file = await session.machine.changeConfig(name, typed === UNSET ? undefined : typed);
  const what = typed === UNSET ? `Removed ${name} from` : `Set ${name} in`;
  const where = shortFolder(file, session.machine.home);
  if (name === "theme" && isTheme(typed)) {
    session.terminal.useTheme(typed);
    session.say(`${what} ${where}.`);
  } else session.say(`${what} ${where}. It applies once Flint and its server start again.`);
}

function whyLocked(name: string, path: string): string {
  return `The administrator of this machine locks ${name} in ${path}. A stricter value: flint config set ${name} VALUE`;
}
