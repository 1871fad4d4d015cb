export { type Channel, type ChannelListener, LineSplitter } from "./channel.ts";
export {
  anyOf,
  at,
  expectFit,
  Failed,
  listAt,
  Matcher,
  mismatch,
  type Pattern,
  shown,
  textAt,
} from "./pattern.ts";
export { type Entry, type Message, type WaitOptions, Wire, WireError, type WireOptions } from "./wire.ts";
