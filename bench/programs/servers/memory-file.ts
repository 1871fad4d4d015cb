/** The file in which a measured server writes how much memory it uses. */
export const HELD_FILE = "held-bytes";
