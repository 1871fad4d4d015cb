import * as z from "zod/mini";
import { open } from "../open.ts";
import { WorkspaceFile } from "../workspace.ts";
import { absolutePath, row } from "./row.ts";

const WorkspaceResult = open({ files: z.array(WorkspaceFile) });

/** What the files of a workspace may say, once the user trusts their content. */
export const WORKSPACE_METHODS = {
  "workspace/read": row(
    "The files with which a folder could steer Flint, with their content and whether it is trusted.",
    "none",
    () => open({ cwd: absolutePath }),
    () => WorkspaceResult,
  ),
  "workspace/trust": row(
    "Trust files as they were shown to the user. Refused for a file whose content is another by now.",
    "none",
    () =>
      open({
        cwd: absolutePath,
        files: z.array(open({ path: z.string(), sha256: z.string() })).check(z.minLength(1)),
      }),
    () => WorkspaceResult,
  ),
  "workspace/distrust": row(
    "Take the trust in the files of a folder away.",
    "none",
    () => open({ cwd: absolutePath }),
    () => WorkspaceResult,
  ),
} as const;
