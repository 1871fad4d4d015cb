/** The server does not do what the check says. The message says what came instead. */
export class Failed extends Error {
  constructor(message: string) {
    super(message);
    this.name = "Failed";
  }
}

/** The server does not have this, or could not be brought to do it here; so nothing is known about it. */
export class NotOffered extends Error {
  constructor(message: string) {
    super(message);
    this.name = "NotOffered";
  }
}
