import { mkdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import { stringify } from "yaml";
import type { Toolchain } from "../../sandbox/toolchain";
import { linkDependencies } from "./compiled-clone";
import { TestStack } from "./test-stack";

const PROGRAM = `
const pulumi = require("@pulumi/pulumi");
const { plain, secret } = JSON.parse(require("fs").readFileSync("outputs.json", "utf8"));
for (const [name, value] of Object.entries(secret)) plain[name] = pulumi.secret(value);
module.exports = plain;
`;

/** Outputs of a stack to which others refer. */
export interface SharedOutputs {
  readonly project: string;
  readonly stack: string;
  readonly plain?: Readonly<Record<string, string>>;
  readonly secret?: Readonly<Record<string, string>>;
}

/**
 * Creates a stack of another program, which has nothing but outputs.
 *
 * @param place.folder in which the program gets a folder of its own
 * @param place.stateFolder of the stacks that refer to it
 */
export async function createSharedOutputs(
  place: { readonly folder: string; readonly stateFolder: string },
  toolchain: Toolchain,
  { project, stack, plain = {}, secret = {} }: SharedOutputs,
): Promise<void> {
  const folder = path.join(place.folder, `${project}-${stack}`);
  mkdirSync(folder);
  const settings = { name: project, runtime: "nodejs", main: "index.js" };
  writeFileSync(path.join(folder, "Pulumi.yaml"), stringify(settings));
  writeFileSync(path.join(folder, "package.json"), JSON.stringify({ name: project }));
  writeFileSync(path.join(folder, "index.js"), PROGRAM);
  writeFileSync(path.join(folder, "outputs.json"), JSON.stringify({ plain, secret }), { mode: 0o600 });
  linkDependencies(folder);
  const { stateFolder } = place;
  await (await new TestStack({ folder, project, stack, stateFolder }, toolchain).create()).up();
}
