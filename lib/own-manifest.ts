import { readFileSync } from "node:fs";
import path from "node:path";

/** The folder of foresail's package: this file is compiled to bin/lib. */
export const OWN_FOLDER = path.resolve(__dirname, "..", "..");

/** What foresail's package.json says. */
export interface OwnManifest {
  readonly version: string;
  /** Absent in a clone: a release writes it. */
  readonly repository?: { readonly url: string };
  readonly peerDependencies: Readonly<Record<string, string>>;
  readonly peerDependenciesMeta: Readonly<Record<string, { readonly optional?: boolean }>>;
}

let manifest: OwnManifest | undefined;

/** Returns foresail's package.json, which is read once in a process. */
export const ownManifest = (): OwnManifest =>
  (manifest ??= JSON.parse(readFileSync(path.join(OWN_FOLDER, "package.json"), "utf8")) as OwnManifest);
