import type { FreeHandlers, HandlerContext } from "./handler.ts";

/** Which files of a folder could steer Flint, and whether the user lets them. */
export const workspaceHandlers: Pick<
  FreeHandlers,
  "workspace/read" | "workspace/trust" | "workspace/distrust"
> = {
  async "workspace/read"({ cwd }, context) {
    return { result: await filesOf(cwd, context) };
  },

  async "workspace/trust"({ cwd, files }, context) {
    await context.services.options.workspaces.trust(cwd, files);
    return { result: await filesOf(cwd, context) };
  },

  async "workspace/distrust"({ cwd }, context) {
    await context.services.options.workspaces.distrust(cwd);
    return { result: await filesOf(cwd, context) };
  },
};

async function filesOf(cwd: string, { services }: HandlerContext) {
  return { files: [...(await services.options.workspaces.files(cwd))] };
}
