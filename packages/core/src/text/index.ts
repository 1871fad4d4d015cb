export { cutMiddle, headOf, tailOf } from "./bounded.ts";
export { BoundedOutput } from "./bounded-output.ts";
export { toWellFormed, wellFormed } from "./characters.ts";
export { displayText, truncate } from "./display-text.ts";
export { shellQuote, singleQuote } from "./shell-quote.ts";
