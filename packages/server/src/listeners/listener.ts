/** Something that takes clients. */
export interface Listener {
  /** Where, as a client would write it. */
  readonly place: string;
  /** Takes nobody any more and leaves nothing behind; those who are there stay. */
  close(): Promise<void>;
}
