/** Answers that hold for longer than a thread: exact actions that were allowed for always, by project and agent. */
export interface Rules {
  has(key: string): boolean;
  add(key: string): void;
}
