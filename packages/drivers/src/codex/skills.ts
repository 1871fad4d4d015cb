import type { Steering } from "@flint/core/ports";
import type { AgentSkill, FolderSkills } from "@flint/protocol";
import type { CodexResult } from "@flint/protocol/codex";
import { usesProject } from "../shared/folders/project-files.ts";
import type { CodexServer } from "./process/server.ts";

type Listed = CodexResult<"skills/list">["data"];
type CodexSkill = Listed[number]["skills"][number];

/** The folders of a project that have skills for Codex, as they are named among what steers it. */
const SKILL_FOLDERS: ReadonlySet<string> = new Set([".agents/skills", ".codex/skills"]);

/** Codex's own word for the skills of a project (0.166.0). */
const OF_PROJECT = "repo";

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
export function skillsIn(listed: Listed, cwd: string, steering: Steering): FolderSkills {
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
