import { z } from "zod";
import type { Infrastructure, InfrastructureStatus, VirtualMachine, DesiredVmGroup } from "../../plan/model";
import { address, list, text, wholeNumber, word } from "../answer";
import { oneLine, remoteWords } from "../refusal";

const SSH_PORT = 22;

export const message = text.transform((words) => (words === "" ? "" : remoteWords(words)));

export const machine: z.ZodType<VirtualMachine> = z
  .looseObject({
    id: z.string().transform(oneLine),
    subGroupId: word,
    status: word,
    targetAction: word,
    systemMessage: message,
    region: z.looseObject({ Region: text, Zone: text }).nullish(),
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
    vmUserAccount: word,
    cspViewVmDetail: z.looseObject({ IId: z.looseObject({ SystemId: text }).nullish() }).nullish(),
  })
  .transform((one) => ({
    name: one.id,
    group: one.subGroupId,
    status: one.status,
    targetAction: one.targetAction,
    systemMessage: one.systemMessage,
    region: one.region?.Region ?? "",
    zone: one.region?.Zone ?? "",
    publicAddress: one.publicIP,
    privateAddress: one.privateIP,
    sshPort: one.sshPort ?? SSH_PORT,
    connection: one.connectionName,
    user: one.vmUserAccount,
    spec: one.specId,
    image: one.imageId,
    vNet: one.vNetId,
    subnet: one.subnetId,
    securityGroups: one.securityGroupIds,
    sshKey: one.sshKeyId,
    cloudId: one.cspViewVmDetail?.IId?.SystemId ?? "",
  }));

export const infrastructure: z.ZodType<Infrastructure> = z
  .looseObject({
    id: z.string().transform(oneLine),
    status: word,
    targetAction: word,
    targetStatus: word,
    description: text,
    systemMessage: message,
    vm: list(machine),
  })
  .transform((one) => ({
    name: one.id,
    status: one.status,
    targetAction: one.targetAction,
    targetStatus: one.targetStatus,
    description: one.description,
    messages: one.systemMessage === "" ? [] : [one.systemMessage],
    machines: one.vm,
  }));

export const infrastructureStatus: z.ZodType<InfrastructureStatus> = z
  .looseObject({
    status: z.looseObject({
      id: z.string().transform(oneLine),
      status: word,
      targetAction: word,
      vm: list(
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
    machines: one.vm.map((each) => ({
      name: each.id,
      status: each.status,
      targetAction: each.targetAction,
      systemMessage: each.systemMessage,
      publicAddress: each.publicIp,
      privateAddress: each.privateIp,
      sshPort: each.sshPort ?? SSH_PORT,
    })),
  }));

/** Returns an entry of `vm[]`. */
export function groupRequest(group: DesiredVmGroup): Record<string, unknown> {
  return {
    name: group.name,
    subGroupSize: String(group.size),
    connectionName: group.connection,
    specId: group.spec,
    imageId: group.image,
    vNetId: group.vNet,
    subnetId: group.subnet,
    securityGroupIds: [...group.securityGroups],
    sshKeyId: group.sshKey,
    vmUserAccount: group.user,
    vmUserPassword: "",
    rootDiskType: group.rootDisk?.type ?? "default",
    rootDiskSize: group.rootDisk?.gibibytes === undefined ? "default" : String(group.rootDisk.gibibytes),
    label: Object.entries(group.labels ?? {})
      .map(([key, value]) => `${key}=${value}`)
      .join(","),
    description: group.description ?? "",
  };
}
