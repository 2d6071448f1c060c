import { readFileSync } from "node:fs";
import path from "node:path";

/** The folder of the package: this file is compiled to bin/lib. */
const FOLDER = path.resolve(__dirname, "..", "..");

/** What package.json of a published package says; a clone's names no repository. */
export interface PublishedPackage {
  readonly version: string;
  readonly repository?: { readonly url: string };
}

/**
 * Returns where a page of the documentation can be read, for messages: in the repository at the version that runs, or as
 * a file in the package when that names no repository.
 *
 * @param name of the page, without `.md`
 */
export function pageOf(name: string, manifest = readManifest(), folder = FOLDER): string {
  const url = manifest.repository?.url.replace(/^git\+/, "").replace(/\.git$/, "");
  if (url !== undefined) return `${url}/blob/v${manifest.version}/docs/${name}.md`;
  return path.relative(process.cwd(), path.join(folder, "docs", `${name}.md`));
}

const readManifest = () =>
  JSON.parse(readFileSync(path.join(FOLDER, "package.json"), "utf8")) as PublishedPackage;
