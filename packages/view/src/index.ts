export { exact, visible } from "./escape.ts";
