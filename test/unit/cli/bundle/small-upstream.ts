import { kubernetesImages } from "../../../../providers/kubeadm/plan/bundle/software";
import { BundleUpstream } from "../../../support/bundle-upstream";

export const VERSION = "1.36.3";

/** Returns a file that begins as a program for Linux does. */
export function smallProgram(name: string, machine = 0x3e): Buffer {
  const head = Buffer.alloc(64);
  head.write("\x7fELF\x02\x01\x01", "latin1");
  head.writeUInt16LE(machine, 18);
  return Buffer.concat([head, Buffer.from(name.repeat(20_000))]);
}

/** Starts a server that publishes small files under the names of Kubernetes' own. */
export async function startSmallUpstream(): Promise<BundleUpstream> {
  const upstream = await BundleUpstream.start();
  const programs = Object.fromEntries(
    ["kubeadm", "kubectl", "kubelet"].map((name) => [name, smallProgram(name)]),
  );
  upstream.publishPrograms(VERSION, "amd64", programs);
  for (const image of [...(kubernetesImages(VERSION) ?? []), "example.com/team/app:1"]) {
    const [, repository = "", tag = ""] = /^[^/]+\/(.*):(.*)$/.exec(image) ?? [];
    const config = Buffer.from(JSON.stringify({ architecture: "amd64", os: "linux", of: repository }));
    const layers = ["a layer that all have", `a layer of ${repository}`].map((text) => Buffer.from(text));
    await upstream.publishImage({ repository, tag, config, layers });
  }
  return upstream;
}
