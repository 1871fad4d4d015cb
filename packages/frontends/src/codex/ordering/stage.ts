/** One reordering of what a client is sent. */
export interface Stage<Item> {
  /** What is passed on now in place of an item, in this order. */
  pass(item: Item): readonly Item[];
  /** The client is not subscribed to a thread any more; to none, if none is named. */
  forget(threadId?: string): void;
}
