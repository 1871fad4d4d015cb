/** The server does not do what the check says. The message says what happened instead. */
export class Failed extends Error {
  constructor(message: string) {
    super(message);
    this.name = "Failed";
  }
}

/** The server does not offer this, or it cannot be tested here. */
export class NotOffered extends Error {
  constructor(message: string) {
    super(message);
    this.name = "NotOffered";
  }
}
