/** Where a server of a measurement notes down how much memory it holds. */
export const HELD_FILE = "held-bytes";
