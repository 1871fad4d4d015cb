export { asFileAccessError, errorMessage, FileAccessError } from "./file-access-error.ts";
export {
  type ImageInput,
  imageFromBytes,
  imageFromDataUrl,
  type LoadedImage,
  MAX_IMAGE_BYTES,
  readImage,
} from "./image.ts";
export {
  type Content,
  plainBytes,
  plainText,
  plainTextSync,
  readPlainFile,
  realPlaceOf,
  UNREADABLE,
  unlinkedText,
} from "./plain-file.ts";
export { type FileRevision, loadUnifiedDiff, type UnifiedDiff, unifiedDiff } from "./unified-diff.ts";
