import { describeAgentFolders, FURTHER_AGENTS } from "../../testing/agent-folders.ts";

describeAgentFolders(FURTHER_AGENTS);
