/**
 * What the user types, as models without I/O: `keys` decodes the bytes of the terminal, `editor` holds the text of the
 * composer.
 */
export type { Attachment } from "./editor/attachments.ts";
export { Editor } from "./editor/editor.ts";
export { type RowPiece, rowText, type TextLayout, type TextRow } from "./editor/layout.ts";
export type { Motion } from "./editor/motions.ts";
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
export { type EventListener, KeyReader } from "./keys/key-reader.ts";
