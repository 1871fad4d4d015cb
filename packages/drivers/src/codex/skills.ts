import type { Steering } from "@flint/core/ports";
import type { AgentSkill, FolderSkills } from "@flint/protocol";
import type { CodexResult } from "@flint/protocol/codex";
import { usesProject } from "../shared/folders/project-files.ts";

type Listed = CodexResult<"skills/list">["data"];
type CodexSkill = Listed[number]["skills"][number];

/** Codex's own word for the skills of a project (0.166.0). */
const OF_PROJECT = "repo";

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
