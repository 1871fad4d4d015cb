export { type Channel, type ChannelListener, LineSplitter } from "./channel.ts";
export {
  anyOf,
  at,
  expectFit,
  Failed,
  formatValue,
  listAt,
  Matcher,
  mismatch,
  type Pattern,
  stringAt,
} from "./pattern.ts";
export { type Entry, type Message, type WaitOptions, Wire, WireError, type WireOptions } from "./wire.ts";
