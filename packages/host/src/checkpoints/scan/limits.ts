/** How much is saved. What is beyond is told, not lost in silence. */
export interface CheckpointLimits {
  /** Bytes of one file. */
  readonly file: number;
  /** Files, links and folders in all folders of a turn. */
  readonly entries: number;
  /** Bytes of all files together. */
  readonly total: number;
  /** How long one look at everything may take. */
  readonly milliseconds: number;
}

/** What holds unless told. */
export const DEFAULT_LIMITS: CheckpointLimits = {
  file: 10 * 1024 * 1024,
  entries: 50_000,
  total: 1024 * 1024 * 1024,
  milliseconds: 10_000,
};
