import path from "node:path";
import type { ContainerEngine } from "./engine";
import { digestOf, type Layer } from "./image-archive";
import { nodeImage } from "./node-image";

/** Lists iptables with its alternatives, extensions and libraries, and packs them; run in the nodes' image. */
const PACK = `
set -e
programs=$(ls /usr/sbin/iptables* /usr/sbin/ip6tables* /usr/sbin/xtables-* /etc/alternatives/ip*tables* /usr/sbin/conntrack)
extensions=$(ls -d /usr/lib/*/xtables)
libraries=$(ldd /usr/sbin/xtables-nft-multi /usr/sbin/xtables-legacy-multi /usr/sbin/conntrack /usr/lib/*/xtables/*.so \\
  | grep -o '/[^ ]* (0x' | cut -d ' ' -f 1 | sort -u)
real=$(for each in $libraries; do echo $(realpath $(dirname $each))/$(basename $each); realpath $each; done | sort -u)
tar --sort=name --mtime=@0 --numeric-owner --create --file /layer/iptables.layer.tar --directory / \\
  $(for each in /bin /sbin /lib $(ls -d /lib64 2>/dev/null) $programs $extensions $real; do echo ".$each"; done | sort -u)
`;

/** Writes a layer with iptables out of the nodes' image: kube-proxy calls it. */
export async function writeIptablesLayer(engine: ContainerEngine, staging: string): Promise<Layer> {
  await engine.call([
    ...["run", "--rm", "--network", "none", ...(await engine.limitArguments())],
    ...["--volume", `${staging}:/layer`, nodeImage(), "bash", "-c", PACK],
  ]);
  const file = path.join(staging, "iptables.layer.tar");
  return { file, digest: await digestOf(file) };
}
