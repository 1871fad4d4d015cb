import type { Command, CommandGroup, Condition, KeyPlace } from "./command.ts";

type KeyCommand = Command & { readonly isOnlyKey: true };

/** The commands that only make sense as keys: editing, moving around, and answering. All of them can be rebound. */
export const KEY_COMMANDS = {
  send: key("Editing", "composer", "Send the input; steer the running turn with it", ["enter"]),
  queueInput: key("Editing", "composer", "Queue the prompt until the turn ends", ["tab"], "running"),
  newLine: key("Editing", "composer", "Start a new line", ["shift+enter", "alt+enter", "ctrl+j"]),
  complete: key("Editing", "composer", "Complete a file or a command", ["tab"]),
  cursorLeft: key("Editing", "composer", "Move left", ["left", "ctrl+b"]),
  cursorRight: key("Editing", "composer", "Move right", ["right", "ctrl+f"]),
  wordLeft: key("Editing", "composer", "Move back by a word", ["alt+left", "ctrl+left", "alt+b"]),
  wordRight: key("Editing", "composer", "Move forward by a word", ["alt+right", "ctrl+right", "alt+f"]),
  lineStart: key("Editing", "composer", "Move to the start of the line", ["home", "ctrl+a"]),
  lineEnd: key("Editing", "composer", "Move to the end of the line", ["end", "ctrl+e"]),
  deleteLeft: key("Editing", "composer", "Delete the character before the cursor", ["backspace", "ctrl+h"]),
  deleteRight: key("Editing", "composer", "Delete the character at the cursor", ["delete"]),
  deleteWordLeft: key("Editing", "composer", "Cut the word before the cursor", [
    "ctrl+w",
    "alt+backspace",
    "ctrl+backspace",
  ]),
  deleteWordRight: key("Editing", "composer", "Cut the word after the cursor", ["alt+delete"]),
  cutToStart: key("Editing", "composer", "Cut to the start of the line", ["ctrl+u"]),
  cutToEnd: key("Editing", "composer", "Cut to the end of the line", ["ctrl+k"]),
  paste: key("Editing", "composer", "Paste what was cut", ["ctrl+y"]),
  pasteEarlier: key("Editing", "composer", "Replace it with the previous cut", ["alt+y"]),
  undo: key("Editing", "composer", "Undo", ["ctrl+_", "ctrl+-"]),
  redo: key("Editing", "composer", "Redo", ["alt+_", "alt+-"]),
  clearInput: key("Editing", "composer", "Clear the input; press it again to quit", ["ctrl+c"], "idle"),
  historyBack: key("Editing", "composer", "Earlier input", ["up"]),
  historyForward: key("Editing", "composer", "Later input", ["down"]),
  searchHistory: key("Editing", "composer", "Search earlier inputs", ["ctrl+r"]),
  openEditor: key("Editing", "composer", "Edit the input in your editor", ["ctrl+g", "ctrl+x"]),
  pasteImage: key("Editing", "composer", "Attach the image in the clipboard", ["ctrl+v"]),
  unfoldPaste: key("Editing", "composer", "Show a folded paste", ["alt+p"]),

  interruptOrClose: key(
    "Navigation",
    "everywhere",
    "Interrupt the running turn; in a menu or page, close that instead",
    ["ctrl+c"],
    "running",
  ),
  menuUp: key("Navigation", "menu", "Up", ["up", "ctrl+p"]),
  menuDown: key("Navigation", "menu", "Down", ["down", "ctrl+n"]),
  menuAccept: key("Navigation", "menu", "Choose", ["enter", "tab"]),
  menuCancel: key("Navigation", "menu", "Close", ["escape", "ctrl+c"]),

  scrollUp: key("Navigation", "pager", "Up a line", ["up", "k"]),
  scrollDown: key("Navigation", "pager", "Down a line", ["down", "j"]),
  pageUp: key("Navigation", "pager", "Up a page", ["pageup", "b", "ctrl+b"]),
  pageDown: key("Navigation", "pager", "Down a page", ["pagedown", "space", "ctrl+f"]),
  toTop: key("Navigation", "pager", "To the start", ["home", "g"]),
  toBottom: key("Navigation", "pager", "To the end", ["end", "shift+g"]),
  previousPart: key("Navigation", "pager", "Previous row or hunk", ["["]),
  nextPart: key("Navigation", "pager", "Next row or hunk", ["]"]),
  toggleFold: key("Navigation", "pager", "Fold or unfold", ["enter", "tab"]),
  toggleSplit: key("Navigation", "pager", "Diff in one column or in two", ["s"]),
  find: key("Navigation", "pager", "Find text", ["/"]),
  findNext: key("Navigation", "pager", "Next match", ["n"]),
  findPrevious: key("Navigation", "pager", "Previous match", ["shift+n"]),
  closePager: key("Navigation", "pager", "Close", ["escape", "q", "ctrl+c"]),

  listUp: key("Lists", "list", "Up", ["up", "k"]),
  listDown: key("Lists", "list", "Down", ["down", "j"]),
  listPageUp: key("Lists", "list", "Up a page", ["pageup", "ctrl+b"]),
  listPageDown: key("Lists", "list", "Down a page", ["pagedown", "space", "ctrl+f"]),
  listOpen: key("Lists", "list", "Open", ["enter"]),
  listSearch: key("Lists", "list", "Search", ["/"]),
  listRename: key("Lists", "list", "Rename the thread", ["r"]),
  listPin: key("Lists", "list", "Pin or unpin the thread", ["p"]),
  listArchive: key("Lists", "list", "Archive or unarchive the thread", ["a"]),
  listDelete: key("Lists", "list", "Delete the thread", ["d", "delete"]),
  listFork: key("Lists", "list", "Continue in a copy of the thread", ["f"]),
  listExport: key("Lists", "list", "Export the thread", ["e"]),
  listArchived: key("Lists", "list", "Show archived threads", ["."]),
  listNew: key("Lists", "list", "Start a new thread", ["n"]),
  listClose: key("Lists", "list", "Close", ["escape", "q", "ctrl+c"]),

  taskApprove: key("Tasks", "pager", "Approve the result, or allow what is asked for", ["a"]),
  taskReply: key("Tasks", "pager", "Request changes, answer, or send the executor a message", ["r"]),
  taskDiff: key("Tasks", "pager", "Show the result as a diff", ["d"]),
  taskLog: key("Tasks", "pager", "Show the whole log", ["l"]),
  taskThread: key("Tasks", "pager", "Open the executor's thread", ["o"]),
  taskSuspend: key("Tasks", "pager", "Suspend or resume the task", ["p"]),
  taskRetry: key("Tasks", "pager", "Run the task again", ["t"]),
  taskGiveUp: key("Tasks", "pager", "Give up on the task that asks", ["x"]),
  taskCancel: key("Tasks", "pager", "Cancel the task", ["c"]),

  askView: key("Answers", "ask", "Show it full screen, a diff in two columns", ["v"]),
  askDeclineWithMessage: key("Answers", "ask", "Decline with a reason", ["m"]),
} as const satisfies Readonly<Record<string, KeyCommand>>;

function key(
  group: CommandGroup,
  place: KeyPlace,
  title: string,
  keys: readonly string[],
  ...when: readonly Condition[]
): KeyCommand {
  return { title, group, place, keys, when, isOnlyKey: true };
}
