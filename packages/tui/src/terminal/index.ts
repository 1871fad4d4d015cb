export { type Key, Keyboard, type KeyListener, type KeySource } from "./keyboard.ts";
export { LiveRegion } from "./live-region.ts";
export {
  type Choice,
  choiceLine,
  helpBlock,
  type Step,
  stepChoice,
  stepTextEntry,
  type TextEntry,
  typingLine,
} from "./prompt.ts";
