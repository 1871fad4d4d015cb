export { EVERY_ITEM, EXTENSION, everyStatus, turnWith } from "./every-item.ts";
