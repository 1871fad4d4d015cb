export { BoundedOutput, cutMiddle, headOf, tailOf } from "./bounded.ts";
export { displayText, toWellFormed, truncate, visibleText, wellFormed } from "./characters.ts";
export { commandActions } from "./command-actions.ts";
export { itemText } from "./item-text.ts";
export { shellQuote, singleQuote } from "./shell-words.ts";
