/**
 * Models of what the user types, which the session puts together:
 *
 * - `keys`: `KeyReader` turns the bytes of the terminal into events; `keyName` and `keyLabel` name keys.
 * - `editor`: `Editor` is the text of the composer; `layout` says what to draw and where the cursor is.
 * - `history`: `HistoryFile`, `Drafts` and `Stash` keep prompts, `HistoryWalk` is for the arrow keys.
 * - `completion`: `Completer` is the list below the composer; `FileIndex`, `commandChoices` and `argumentChoices` fill it.
 * - `picker`: `Picker` is any list that is narrowed down by typing.
 * - `attach`: `droppedFiles` recognizes files in a paste, `clipboardImage` gets an image.
 * - `editor-program`: `editExternally` hands the text to the user's editor.
 *
 * Only `history-file`, `drafts`, `stash`, `private-file`, `file-index`, `attached-files`, `clipboard-image` and `external-editor`
 * touch the machine.
 */
export { type DroppedFile, droppedFiles, type ImageFile, readImageFile } from "./attach/attached-files.ts";
export { clipboardImage } from "./attach/clipboard-image.ts";
export {
  type ArgumentChoices,
  argumentChoices,
  commandChoices,
  commandsOfAgent,
} from "./completion/command-choices.ts";
export {
  Completer,
  type Completion,
  type CompletionSources,
  type FoundFile,
  type NameChoice,
} from "./completion/completer.ts";
export { FileIndex } from "./completion/file-index.ts";
export { mentionOf, shellCommandOf, type Trigger } from "./completion/trigger.ts";
export { type Attachment, type Content, contentOf } from "./editor/content.ts";
export { Editor } from "./editor/editor.ts";
export { type RowPiece, rowText, type TextLayout, type TextRow } from "./editor/layout.ts";
export type { Motion } from "./editor/motions.ts";
export {
  type ExternalEdit,
  type ExternalEditorOptions,
  editExternally,
} from "./editor-program/external-editor.ts";
export { Drafts } from "./history/drafts.ts";
export { HistoryFile } from "./history/history-file.ts";
export {
  HistoryWalk,
  promptsForSearch,
  promptsIn,
  type SentPrompt,
} from "./history/prompt-history.ts";
export { Stash } from "./history/stash.ts";
export { KeyDecoder } from "./keys/decoder.ts";
export {
  type Answer,
  type FocusChange,
  type InputEvent,
  type KeyPress,
  keyName,
  type Paste,
  type Rgb,
  type TerminalAnswer,
} from "./keys/input-event.ts";
export { keyLabel } from "./keys/key-label.ts";
export { type EventListener, isWheel, KeyReader } from "./keys/key-reader.ts";
export { Picker, type PickerItem, type PickerRow, type PickerWindow } from "./picker/picker.ts";
