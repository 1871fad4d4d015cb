export { displayText, truncate } from "./display-text.ts";
export { toWellFormed, wellFormed } from "./well-formed.ts";
