/**
 * What the user types, as models without I/O: `keys` decodes the bytes of the terminal.
 */
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
