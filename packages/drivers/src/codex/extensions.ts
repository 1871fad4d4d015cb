import { resolve, sep } from "node:path";
import type { AgentPlugins, PluginFolder, Steering } from "@flint/core/ports";
import type { AgentSkill, FolderHooks, FolderSkills } from "@flint/protocol";
import type { CodexResult } from "@flint/protocol/codex";
import { usesProject } from "../shared/folders/project-files.ts";
import { HOOK_COMMAND } from "./process/launch.ts";
import type { CodexServer } from "./process/server.ts";

type ListedSkills = CodexResult<"skills/list">["data"];
type CodexSkill = ListedSkills[number]["skills"][number];
type ListedHooks = CodexResult<"hooks/list">["data"];
type CodexHook = ListedHooks[number]["hooks"][number];
type ListedPlugins = CodexResult<"plugin/installed"> & { readonly featuredPluginIds?: readonly string[] };

/** The folders of a project that have skills for Codex, as they are named among what steers it. */
const SKILL_FOLDERS: ReadonlySet<string> = new Set([".agents/skills", ".codex/skills"]);

/** Codex's own words for the skills and for the hooks of a project (0.166.0). */
const OF_PROJECT = "repo";
const HOOK_OF_PROJECT = "project";

/**
 * Settings of a thread that turn off the skills of a project that is not trusted, one by one: Codex tells its model about
 * them whatever the trust of the project (0.166.0, November 2026). Asks nothing where there are none.
 */
export async function untrustedSkills(server: CodexServer, cwd: string, steering: Steering) {
  if (usesProject(steering) || !steering.untrusted.some(({ path }) => SKILL_FOLDERS.has(path))) return {};
  const { data } = await server.request("skills/list", { cwds: [cwd], forceReload: true });
  const ofProject = data.flatMap(({ skills }) => skills).filter(({ scope }) => scope === OF_PROJECT);
  return { "skills.config": ofProject.map(({ path }) => ({ path, enabled: false })) };
}

/** The skills of one folder, as its threads have them: Codex lists those of a project whatever its trust (0.166.0). */
export function skillsIn(listed: ListedSkills, cwd: string, steering: Steering): FolderSkills {
  const found = listed.find((folder) => folder.cwd === cwd) ?? { skills: [], errors: [] };
  const isUsed = ({ scope }: CodexSkill) => scope !== OF_PROJECT || usesProject(steering);
  return {
    cwd,
    skills: found.skills.filter(isUsed).map(skillOf),
    errors: found.errors.map(({ path, message }) => ({ path, message })),
  };
}

function skillOf(skill: CodexSkill): AgentSkill {
  const { name, description, path, scope, enabled } = skill;
  const displayName = skill.interface?.displayName;
  const shortDescription = skill.interface?.shortDescription ?? skill.shortDescription;
  return {
    ...{ name, description, path, scope, enabled },
    ...(displayName == null ? {} : { displayName }),
    ...(shortDescription == null ? {} : { shortDescription }),
  };
}

/** The hooks of one folder, as its threads run them, without the one that Flint sets itself. */
export function hooksIn(listed: ListedHooks, cwd: string, steering: Steering): FolderHooks {
  const found = listed.find((folder) => folder.cwd === cwd);
  const isUsed = ({ source, command }: CodexHook) =>
    command !== HOOK_COMMAND && (source !== HOOK_OF_PROJECT || usesProject(steering));
  const { hooks = [], warnings = [], errors = [] } = found ?? {};
  return {
    cwd,
    hooks: hooks.filter(isUsed).map((hook) => {
      const { key: name, eventName: event, source, enabled, command } = hook;
      return { name, event, source, enabled, ...(command == null ? {} : { command }), meta: { ...hook } };
    }),
    warnings,
    errors: errors.map(({ path, message }) => ({ path, message })),
  };
}

/** The plugins of Codex, without the marketplaces of projects that are not trusted. */
export function pluginsIn(listed: ListedPlugins, folders: readonly PluginFolder[]): AgentPlugins {
  const untrusted = folders.filter(({ steering }) => !usesProject(steering));
  const isUsed = (path: string | null | undefined) =>
    path == null || !untrusted.some(({ cwd }) => path.startsWith(resolve(cwd) + sep));
  return {
    data: listed.marketplaces
      .filter(({ path }) => isUsed(path))
      .map(({ name, path, plugins, ...meta }) => ({
        ...{ name, meta },
        ...(path == null ? {} : { path }),
        plugins: plugins.map((plugin) => {
          const { id, name: shown, installed, enabled } = plugin;
          return { id, name: shown, installed, enabled, meta: { ...plugin } };
        }),
      })),
    errors: listed.marketplaceLoadErrors
      .filter(({ marketplacePath }) => isUsed(marketplacePath))
      .map(({ marketplacePath: path, message }) => ({ path, message })),
    featured: [...(listed.featuredPluginIds ?? [])],
  };
}
