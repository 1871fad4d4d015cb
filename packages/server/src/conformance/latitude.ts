/** What may differ without a client noticing. */
export interface Latitude {
  /** Messages that may be there or not; by the begin of their name. */
  readonly free: readonly string[];
  /** Messages that have an order only among themselves, because they come from another task; by the begin of their name. */
  readonly apart: readonly string[];
  /** What counts of a refusal: its number and first words, or only that there is one. */
  readonly refusals: "words" | "fact";
  /** Places in messages that need not be there, as `KIND.field.field`; `*` stands for any kind. */
  readonly optional: readonly string[];
}
