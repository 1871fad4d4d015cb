import * as z from "zod/mini";
import { WorkspaceFile } from "../server/config.ts";
import { looseObject } from "../wire/loose-object.ts";
import { absolutePath, method } from "./method.ts";

const WorkspaceResult = looseObject({ files: z.array(WorkspaceFile) });

/** What the files of a workspace may say, once the user trusts their content. */
export const WORKSPACE_METHODS = {
  "workspace/read": method({
    doc: "The files with which a folder could steer Flint, with their content and whether it is trusted.",
    scope: "none",
    params: () => looseObject({ cwd: absolutePath }),
    result: () => WorkspaceResult,
  }),
  "workspace/trust": method({
    doc: "Trust files as they were shown to the user. Refused for a file whose content is another by now.",
    scope: "none",
    params: () =>
      looseObject({
        cwd: absolutePath,
        files: z.array(looseObject({ path: z.string(), sha256: z.string() })).check(z.minLength(1)),
      }),
    result: () => WorkspaceResult,
  }),
  "workspace/distrust": method({
    doc: "Take the trust in the files of a folder away.",
    scope: "none",
    params: () => looseObject({ cwd: absolutePath }),
    result: () => WorkspaceResult,
  }),
} as const;
