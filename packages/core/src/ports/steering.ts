/** A file or folder of a project that steers an agent, by its path in a folder. */
export interface SteeringFile {
  /** The workspace, or a folder above it. */
  readonly folder: string;
  readonly path: string;
}

/** Project files that configure an agent. */
export interface Steering {
  /** Files that are trusted as they are now. */
  readonly trusted: readonly SteeringFile[];
  /** Files that the agent must not use. */
  readonly untrusted: readonly SteeringFile[];
  /** Notices for the user about what is not used. */
  readonly notices: readonly string[];
}

/** An agent that nothing of its project steers. */
export const NO_STEERING: Steering = { trusted: [], untrusted: [], notices: [] };
