import { isObject } from "../../../lib/json";
import { type Inventory, InventoryError, type ListedMachine, nameMachines } from "./inventory";

type Content = Readonly<Record<string, unknown>>;

const objectAt = (content: unknown, key: string): Content => {
  const value = isObject(content) ? content[key] : undefined;
  return isObject(value) ? value : {};
};
const objectsAt = (content: unknown, key: string): Content[] => {
  const value = isObject(content) ? content[key] : undefined;
  return Array.isArray(value) ? value.filter(isObject) : [];
};
const textAt = (content: Content, key: string): string | undefined =>
  typeof content[key] === "string" ? content[key] : undefined;
const numberAt = (content: Content, key: string): number | undefined =>
  typeof content[key] === "number" ? content[key] : undefined;

const JUMP_HOST =
  "the file names a jump host: add cluster.ssh.jumpHost with its host key, which ssh-keyscan prints";

/** Reads k0sctl.yaml (apiVersion k0sctl.k0sproject.io). @throws InventoryError */
export function readK0sctl(content: Content): Inventory {
  const hosts = objectsAt(objectAt(content, "spec"), "hosts");
  const issues = hosts.flatMap((host, index) =>
    textAt(objectAt(host, "ssh"), "address") === undefined
      ? [`spec.hosts[${index}] has no ssh.address; foresail reaches machines over SSH only`]
      : [],
  );
  if (issues.length > 0) throw new InventoryError(issues.join("\n"));
  const listed = hosts.map((host): ListedMachine => {
    const ssh = objectAt(host, "ssh");
    return {
      name: textAt(host, "hostname"),
      role: textAt(host, "role") === "worker" ? "worker" : "control-plane",
      address: textAt(ssh, "address") ?? "",
      port: numberAt(ssh, "port"),
      user: textAt(ssh, "user") ?? "root",
      internalAddress: textAt(host, "privateAddress"),
    };
  });
  const workloads = hosts.filter((host) =>
    ["controller+worker", "single"].includes(textAt(host, "role") ?? ""),
  );
  return {
    machines: nameMachines(listed),
    notes: [
      "machines that run k0s have to be reset before the first up: foresail makes a kubeadm cluster and refuses them until then",
      ...(workloads.length > 0
        ? [
            "controllers that also are workers become control planes, on which only pods run that tolerate their taint",
          ]
        : []),
      ...(hosts.some((host) => isObject(objectAt(host, "ssh")["bastion"])) ? [JUMP_HOST] : []),
    ],
  };
}

/** Reads a KubeOneCluster with machines that it names; those of a cloud are in Terraform. @throws InventoryError */
export function readKubeone(content: Content): Inventory {
  const groups = [
    ["controlPlane", "control-plane"],
    ["staticWorkers", "worker"],
  ] as const;
  const hosts = groups.flatMap(([key, role]) =>
    objectsAt(objectAt(content, key), "hosts").map((host) => ({ host, role })),
  );
  if (hosts.length === 0)
    throw new InventoryError(
      "the file names no machines in controlPlane.hosts; those from Terraform are not in it",
    );
  const listed = hosts.map(({ host, role }): ListedMachine => {
    const internalAddress = textAt(host, "privateAddress");
    return {
      name: textAt(host, "hostname"),
      role,
      address: textAt(host, "publicAddress") ?? internalAddress ?? "",
      internalAddress,
      port: numberAt(host, "sshPort"),
      user: textAt(host, "sshUsername") ?? "root",
    };
  });
  const version = textAt(objectAt(content, "versions"), "kubernetes")?.replace(/^v/, "");
  const dynamic = objectsAt(content, "dynamicWorkers").length;
  return {
    machines: nameMachines(listed),
    ...(version !== undefined && { version }),
    notes: [
      ...(dynamic > 0
        ? ["dynamicWorkers are left out: they are machines of a cloud that KubeOne creates"]
        : []),
      ...(hosts.some(({ host }) => textAt(host, "bastion") !== undefined) ? [JUMP_HOST] : []),
    ],
  };
}
