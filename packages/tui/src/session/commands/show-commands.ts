import { type ThreadState, type Turn, totalTokens } from "@flint/protocol";
import {
  budget,
  duration,
  escapeControls,
  type ImageBlock,
  limitCells,
  money,
  oneLine,
  rowsOf,
  shortFolder,
  size,
  tokens,
} from "@flint/view";
import {
  commandOf,
  isTheme,
  paletteCommands,
  reasonUnavailable,
  THEME_NAMES,
  THEMES,
  type Theme,
  usageOf,
} from "@flint/view/commands";
import { type Line, lineOf, span } from "../../draw/line.ts";
import { keyLabel } from "../../input/index.ts";
import { textPage } from "../../pages/pager.ts";
import type { SessionContext } from "../context.ts";
import { commandContext } from "./command-context.ts";

function facts(rows: readonly (readonly [string, string])[]): Line[] {
  return rows.map(([name, value]) => [span(`${oneLine(name).padEnd(16)} `, "cyan"), span(oneLine(value))]);
}

/** The agent, model, permissions and folder of the thread. */
export function showStatus(session: SessionContext): void {
  const { settings, state, machine } = session;
  if (settings === undefined) return;
  const branch = machine.branchOf(settings.cwd);
  session.run(async () => {
    const turns = await countTurns(session);
    session.openPage(
      textPage("Status", [
        ...facts([
          ["Thread", state?.thread.id ?? "(starts with the first prompt)"],
          ["Name", state?.thread.name ?? "(none)"],
          ["Model", settings.model],
          ["Permissions", session.describePermissions(settings)],
          ["Budget", budget(settings.budget ?? {}) || "no limits"],
          ["Folder", shortFolder(settings.cwd, machine.home)],
          ["Branch", branch ?? "(none)"],
          ["Turns", turns],
        ]),
        ...(state === undefined ? [] : usageLines(state)),
      ]),
    );
  });
}

async function countTurns({ turns }: SessionContext): Promise<string> {
  // Expected: the server is gone.
  const all = await turns.read().catch(() => undefined);
  return all === undefined ? `${turns.known.length} or more` : String(all.length);
}

/** Shows the usage of the thread. */
export function showUsage(session: SessionContext): void {
  const { state } = session;
  session.openPage(textPage("Usage", state === undefined ? [lineOf("Nothing yet.")] : usageLines(state)));
}

function usageLines(state: ThreadState): Line[] {
  const { usage, cost, modelContextWindow, lastUsage, workedMs } = state;
  return facts([
    ["Tokens", tokens(totalTokens(usage))],
    ["Cost", cost === undefined ? "not reported by the agent" : money(cost)],
    ["Last call", tokens(totalTokens(lastUsage))],
    ["Context window", modelContextWindow === undefined ? "unknown" : tokens(modelContextWindow)],
    ["Worked", duration(workedMs)],
  ]);
}

/** The usage limits of the agents' accounts. */
export function showLimits(session: SessionContext): void {
  session.run(async () => {
    const { data } = await session.client.call("account/limits/read", {});
    const rows = facts(
      data.map((limit) => {
        const [agent = "", ...cells] = limitCells(limit, Date.now());
        return [agent, cells.join(", ")] as const;
      }),
    );
    session.openPage(
      textPage("Usage limits", rows.length === 0 ? [lineOf("No agent has reported limits yet.")] : rows),
    );
  });
}

const MCP_STATUS = {
  notStarted: "not started",
  starting: "starting",
  ready: "ready",
  failed: "failed",
  unreported: "configured; the agent does not report its status",
} as const;

/** The MCP servers and their status. */
export function showMcp(session: SessionContext): void {
  session.run(async () => {
    const threadId = session.state?.thread.id;
    const { data } = await session.client.call(
      "mcpServerStatus/list",
      threadId === undefined ? {} : { threadId },
    );
    const rows = data.map(({ name, status, error }) => {
      const text = MCP_STATUS[status];
      return [name, error === undefined ? text : `${text}: ${error}`] as const;
    });
    session.openPage(textPage("MCP servers", rows.length === 0 ? [lineOf("None configured.")] : facts(rows)));
  });
}

/** Column at which the text of a check begins in the report. */
const DOCTOR_INDENT = 22;

/** The report of `flint doctor`. */
export function runDoctor(session: SessionContext): void {
  session.say("Checking agents, sandbox and configuration.");
  session.run(async () => {
    const report = await session.machine.doctor();
    session.openPage(
      textPage(
        "Doctor",
        report.split("\n").map((line) => lineOf(escapeControls(line))),
        DOCTOR_INDENT,
      ),
    );
  });
}

/** Opens an image of the thread; if there are several, the user chooses, the latest first. */
export function openImage(session: SessionContext): void {
  session.run(async () => openImageIn(session, await session.turns.read()));
}

function openImageIn(session: SessionContext, turns: readonly Turn[]): void {
  const rows = rowsOf({ turns, openItemIds: session.state?.openItemIds ?? [] });
  const images = rows.flatMap(({ body }) => body.filter((block) => block.kind === "image")).reverse();
  const open = ({ source }: ImageBlock) => {
    session.run(async () => session.say(`Opened ${await session.machine.openImage(source)}`));
  };
  const [only, ...more] = images;
  if (only === undefined) session.say("There is no image in this thread.");
  else if (more.length === 0) open(only);
  else {
    const items = images.map((image) => ({
      label: escapeControls(image.name),
      detail: placeOf(image),
      choose: () => open(image),
    }));
    session.openMenu({ title: "Open which image?", items }, 0);
  }
}

/** Returns the source of an image, so that no name can hide what is opened. */
function placeOf({ source, bytes }: ImageBlock): string {
  if (!source.startsWith("data:")) return escapeControls(source);
  return bytes === undefined ? "" : size(bytes);
}

/** Every command, to be found by typing. */
export function openPalette(
  session: SessionContext,
  run: (id: ReturnType<typeof paletteCommands>[number]) => void,
): void {
  const situation = commandContext(session);
  const ids = paletteCommands().filter((id) => reasonUnavailable(commandOf(id), situation) === undefined);
  session.openMenu({
    title: "Commands",
    items: ids.map((id) => {
      const keys = session.keymap.keys[id].map((chord) => keyLabel(chord, session.look.unicode)).join(", ");
      const detail = [usageOf(id) ?? "", keys].filter((text) => text !== "").join("  ");
      return { label: commandOf(id).title, detail, choose: () => run(id) };
    }),
  });
}

/** Sets the colours to those that are named, or lets the user choose them. */
export function chooseTheme(session: SessionContext, requested: string): void {
  if (requested === "") {
    const items = THEME_NAMES.map((theme) => ({
      label: theme,
      detail: THEMES[theme],
      isCurrent: theme === session.terminal.theme,
      choose: () => useTheme(session, theme),
    }));
    session.openMenu({ title: "Theme", items });
  } else if (isTheme(requested)) useTheme(session, requested);
  else session.say(`${requested} is not a theme. Themes: ${THEME_NAMES.join(", ")}.`);
}

/** Uses these colours, now and in later sessions. */
function useTheme(session: SessionContext, theme: Theme): void {
  session.terminal.useTheme(theme);
  session.run(() => session.machine.setConfig("theme", theme));
}
