import { readFile } from "node:fs/promises";
import path from "node:path";
import { parse } from "yaml";

/** The Pulumi project of a command. */
export interface Project {
  readonly folder: string;
  readonly name: string;
}

/**
 * Finds the nearest folder with a Pulumi.yaml, from here upwards, as `pulumi` does. @throws Error when there is none
 */
export async function findProject(from = process.cwd()): Promise<Project> {
  for (let folder = path.resolve(from); ; folder = path.dirname(folder)) {
    const text = await readFile(path.join(folder, "Pulumi.yaml"), "utf8").catch(() => undefined);
    if (text !== undefined) {
      const { name } = (parse(text) ?? {}) as { name?: unknown };
      if (typeof name !== "string") throw new Error(`${path.join(folder, "Pulumi.yaml")} names no project`);
      return { folder, name };
    }
    if (path.dirname(folder) === folder)
      throw new Error(
        `there is no Pulumi.yaml in ${path.resolve(from)} or above it; run this in the project's folder`,
      );
  }
}
