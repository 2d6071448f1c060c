import { report } from "../../../lib/pulumi/log";

/** Reports why an object is not deleted. Returns whether it is kept. */
export function reportKept(
  resource: string,
  { made, keepOnDelete }: { made: boolean; keepOnDelete: boolean },
): boolean {
  if (!made) report(resource, "is kept, because this stack did not create it");
  else if (keepOnDelete) report(resource, "is kept, because of `keepOnDelete`");
  return !made || keepOnDelete;
}
