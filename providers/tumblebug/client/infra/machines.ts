import { z } from "zod";
import type { Infrastructure, InfrastructureStatus, VirtualMachine, DesiredVmGroup } from "../../plan/model";
import { address, list, text, wholeNumber, word } from "../answer";
import { message } from "../mcis/machines";
import { oneLine } from "../refusal";

const SSH_PORT = 22;

export const machine: z.ZodType<VirtualMachine> = z
  .looseObject({
    id: z.string().transform(oneLine),
    nodeGroupId: word,
    status: word,
    targetAction: word,
    systemMessage: message,
    region: z.looseObject({ region: text, zone: text }).nullish(),
    publicIP: address,
    privateIP: address,
    sshPort: wholeNumber,
    connectionName: word,
    specId: text,
    imageId: text,
    vNetId: text,
    subnetId: text,
    securityGroupIds: list(z.string()),
    sshKeyId: text,
    nodeUserName: word,
    cspResourceId: text,
  })
  .transform((one) => ({
    name: one.id,
    group: one.nodeGroupId,
    status: one.status,
    targetAction: one.targetAction,
    systemMessage: one.systemMessage,
    region: one.region?.region ?? "",
    zone: one.region?.zone ?? "",
    publicAddress: one.publicIP,
    privateAddress: one.privateIP,
    sshPort: one.sshPort || SSH_PORT,
    connection: one.connectionName,
    user: one.nodeUserName,
    spec: one.specId,
    image: one.imageId,
    vNet: one.vNetId,
    subnet: one.subnetId,
    securityGroups: one.securityGroupIds,
    sshKey: one.sshKeyId,
    cloudId: one.cspResourceId,
  }));

export const infrastructure: z.ZodType<Infrastructure> = z
  .looseObject({
    id: z.string().transform(oneLine),
    status: word,
    targetAction: word,
    targetStatus: word,
    description: text,
    systemMessage: list(message),
    node: list(machine),
  })
  .transform((one) => ({
    name: one.id,
    status: one.status,
    targetAction: one.targetAction,
    targetStatus: one.targetStatus,
    description: one.description,
    messages: one.systemMessage.filter((words) => words !== ""),
    machines: one.node,
  }));

export const infrastructureStatus: z.ZodType<InfrastructureStatus> = z
  .looseObject({
    status: z.looseObject({
      id: z.string().transform(oneLine),
      status: word,
      targetAction: word,
      node: list(
        z.looseObject({
          id: z.string().transform(oneLine),
          status: word,
          targetAction: word,
          systemMessage: message,
          publicIp: address,
          privateIp: address,
          sshPort: wholeNumber,
        }),
      ),
    }),
  })
  .transform(({ status: one }) => ({
    name: one.id,
    status: one.status,
    targetAction: one.targetAction,
    machines: one.node.map((each) => ({
      name: each.id,
      status: each.status,
      targetAction: each.targetAction,
      systemMessage: each.systemMessage,
      publicAddress: each.publicIp,
      privateAddress: each.privateIp,
      sshPort: each.sshPort || SSH_PORT,
    })),
  }));

/** Returns an entry of `nodeGroups[]`. */
export function groupRequest(group: DesiredVmGroup): Record<string, unknown> {
  return {
    name: group.name,
    nodeGroupSize: group.size,
    connectionName: group.connection,
    specId: group.spec,
    imageId: group.image,
    // The server finds the image in the cloud by this name; the id alone is not enough.
    cspImageName: group.image,
    vNetId: group.vNet,
    subnetId: group.subnet,
    securityGroupIds: [...group.securityGroups],
    sshKeyId: group.sshKey,
    nodeUserName: group.user,
    rootDiskType: group.rootDisk?.type ?? "default",
    rootDiskSize: group.rootDisk?.gibibytes ?? 0,
    label: { ...group.labels },
    description: group.description ?? "",
  };
}
