import path from "node:path";
import { OWN_FOLDER, type OwnManifest, ownManifest } from "./own-manifest";

/**
 * Returns where a page of the documentation can be read, for messages: in the repository at the version that runs, or as
 * a file in the package when that names no repository.
 *
 * @param name of the page, without `.md`
 */
export function pageOf(
  name: string,
  { version, repository }: Pick<OwnManifest, "version" | "repository"> = ownManifest(),
  folder = OWN_FOLDER,
): string {
  const url = repository?.url.replace(/^git\+/, "").replace(/\.git$/, "");
  if (url !== undefined) return `${url}/blob/v${version}/docs/${name}.md`;
  return path.relative(process.cwd(), path.join(folder, "docs", `${name}.md`));
}
