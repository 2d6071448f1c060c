import { mkdir, writeFile } from "node:fs/promises";
import path from "node:path";
import type { SandboxNode } from "../../sandbox/nodes";
import { run } from "../../sandbox/nodes/command";
import { ContainerEngine } from "../../sandbox/nodes/engine";
import { describePackage, signRepository } from "./kubernetes-repository";
import type { SigningKey } from "./signing-key";
import { onNode, silent } from "./site-machines";

/** Packs what is installed of a package once more, with a later version; configuration stays the node's own. */
const REPACK = `
root=/var/tmp/repacked/$name
mkdir -p $root/DEBIAN
dpkg-query --listfiles $name | while read -r file; do
  case $file in /etc/*) continue ;; esac
  if [ -e "$file" ] && [ ! -d "$file" ]; then cp --archive --parents "$file" $root; fi
done
dpkg-query --status $name | sed -e '/^Status:/d' -e '/^Conffiles:/,/^[^ ]/{/^Conffiles:/d;/^ /d}' \\
  -e "s/^Version: .*/Version: $version/" > $root/DEBIAN/control
dpkg-deb -Znone --build $root /var/tmp/repacked/$name.deb >&2
cat $root/DEBIAN/control`;

/**
 * Makes a signed apt repository that has later versions of packages which a node has installed, and makes it the only
 * source of packages of these nodes.
 * @param folder where it is made
 * @param url where the nodes find that folder
 * @returns the later version of each package
 */
export async function offerLaterPackages(
  nodes: readonly [SandboxNode, ...SandboxNode[]],
  names: readonly string[],
  { folder, url, key }: { folder: string; url: string; key: SigningKey },
): Promise<Record<string, string>> {
  const [packer] = nodes;
  const engine = await ContainerEngine.ensure(silent);
  await mkdir(folder, { recursive: true });
  const later: Record<string, string> = {};
  const stanzas: string[] = [];
  for (const name of names) {
    const installed = await onNode(packer, `dpkg-query --show --showformat='\${Version}' ${name}`);
    const version = (later[name] = `${installed}+site1`);
    const control = await onNode(packer, `name=${name} version=${version}\n${REPACK}`);
    const archive = `${name}.deb`;
    const from = `${packer.container}:/var/tmp/repacked/${archive}`;
    await run(engine.program, ["cp", from, path.join(folder, archive)]);
    stanzas.push(await describePackage(folder, archive, `${control}\n`));
  }
  await writeFile(path.join(folder, "Packages"), stanzas.join("\n"));
  await signRepository(folder, key);
  const trusted = "/etc/apt/keyrings/site.asc";
  for (const node of nodes)
    await onNode(
      node,
      `rm -rf /etc/apt/sources.list /etc/apt/sources.list.d/debian.sources /var/tmp/repacked
mkdir -p /etc/apt/keyrings
cat > ${trusted} <<'KEY'
${key.publicKey.trimEnd()}
KEY
echo 'deb [signed-by=${trusted}] ${url} ./' > /etc/apt/sources.list.d/site.list`,
    );
  return later;
}
