export { freeSpace, sizeOf } from "./disk-space.ts";
export {
  type ImageInput,
  imageFromBytes,
  imageFromDataUrl,
  type LoadedImage,
  MAX_IMAGE_BYTES,
  readImage,
} from "./image.ts";
export { removeOutwardLinks } from "./outward-links.ts";
export {
  asFileAccessError,
  type Content,
  FileAccessError,
  plainBytes,
  plainText,
  plainTextSync,
  readPlainFile,
  realPathOf,
  UNREADABLE,
  unlinkedText,
} from "./plain-file.ts";
export { type FileRevision, loadUnifiedDiff, type UnifiedDiff, unifiedDiff } from "./unified-diff.ts";
