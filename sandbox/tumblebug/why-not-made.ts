import type { FakeClouds } from "./clouds";
import { imageKeyNotFound, specKeyNotFound } from "./infra-wire";
import type { State, StoredMachine, StoredResourceKind } from "./state";
import type { Wire } from "./wire";

/** The namespace in which 0.7.0 looks for images and specs that a namespace does not contain. */
const COMMON_NAMESPACE = "system-purpose-common-ns";

/**
 * Returns why the server can't request a VM from the cloud, or the cloud rejects it, as the VM's message; undefined
 * when it is created.
 */
export function whyNotMade(
  state: State,
  clouds: FakeClouds,
  wire: Wire,
  namespace: string,
  machine: StoredMachine,
): string | undefined {
  const has = (kind: StoredResourceKind, id: string) => state.resource(namespace, kind, id) !== undefined;
  const subnets = state.resource(namespace, "vNet", machine.vNet)?.subnets ?? [];
  const hasSubnet = subnets.some(({ name }) => name === machine.subnet);
  const rest = [
    ...machine.securityGroups.map((id) => ["securityGroup", id] as const),
    ["sshKey", machine.sshKey] as const,
  ].find(([kind, id]) => !has(kind, id));
  if (wire.generation === "mcis") {
    const key = (kind: string, id: string, of = namespace) =>
      `cannot find the key /ns/${of}/resources/${kind}/${id}`;
    for (const [kind, id] of [["image", machine.image] as const, ["spec", machine.spec] as const])
      if (!has(kind, id)) return `${key(kind, id)}${key(kind, id, COMMON_NAMESPACE)}`;
    if (!has("vNet", machine.vNet)) return key("vNet", machine.vNet);
    if (rest !== undefined) return key(rest[0], rest[1]);
    if (!hasSubnet) return wire.relay(`${machine.subnet} subnet does not exist!!`, "vm");
  } else {
    // registered images are never found: only the cloud's own name works
    if (machine.cloudImage === "") return imageKeyNotFound(machine.image);
    if (!has("spec", machine.spec)) return specKeyNotFound(machine.spec).repeat(2);
    if (!has("vNet", machine.vNet)) return `does not exist, vNet: ${machine.vNet}`;
    if (!hasSubnet) return `does not exist, subnet: ${machine.subnet}`;
    if (rest !== undefined) return `Failed to find ${rest[0]} ${rest[1]}`;
  }
  const image = machine.cloudImage || (state.resource(namespace, "image", machine.image)?.cloudName ?? "");
  if (clouds.image(image) === undefined) return wire.relay(`${image} image does not exist!!`, "vm");
  return undefined;
}
