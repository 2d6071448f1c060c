import { quoted } from "../text/quote";

/** Where a stack is that is named alone. */
interface StackPlace {
  readonly organization: string;
  readonly project: string;
}

const PART = /^[A-Za-z0-9_.-]{1,100}$/;

/** Returns why a text can't be the name of a stack: "stack", "project/stack" or "organization/project/stack". */
export function stackNameIssue(name: string): string | undefined {
  const parts = name.split("/");
  return parts.length <= 3 && parts.every((part) => PART.test(part))
    ? undefined
    : `${quoted(name)} is not the name of a stack; write the stack, project/stack or organization/project/stack`;
}

/** Returns "organization/project/stack" of a stack that is named in a program of a project. */
export function fullStackName(name: string, { organization, project }: StackPlace): string {
  const parts = name.split("/");
  return [...[organization, project].slice(0, 3 - parts.length), ...parts].join("/");
}
