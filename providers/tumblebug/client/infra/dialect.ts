import { z } from "zod";
import { address, list, text, wholeNumber, word } from "../answer";
import type { Dialect } from "../dialect";
import { groupRequest, infrastructure, infrastructureStatus, machine } from "./machines";
import { ruleRequest, securityGroups, specs, sshKeys, vNets } from "./resources";

const cloudImage = z
  .looseObject({
    IId: z.looseObject({ NameId: text, SystemId: text }).nullish(),
    Name: text,
    OSDistribution: text,
  })
  .transform((one) => ({ name: one.Name || one.IId?.NameId || "", guestOs: one.OSDistribution }));

/**
 * The current API, since release 0.12.6. It has no `images`: VMs refer to the cloud's image, because a registered image
 * can't be used and deleting it may delete the one of the namespace `system` (fixtures of 0.13, `resources/image`).
 */
export const infraDialect: Dialect = {
  generation: "infra",
  vNets,
  securityGroups,
  sshKeys,
  specs,
  rulesRequest: (rules) => ({ firewallRules: rules.map(ruleRequest) }),
  connection: z
    .looseObject({
      configName: z.string(),
      providerName: text,
      regionZoneInfoName: text,
      regionDetail: z.looseObject({ regionName: text }).nullish(),
    })
    .transform((one) => ({
      name: one.configName,
      provider: one.providerName.toLowerCase(),
      regionName: one.regionDetail?.regionName || one.regionZoneInfoName,
    })),
  // The connection has the region and its own zone; the record of the region has no zone of the connection.
  regionPath: ({ name }) => `/connConfig/${encodeURIComponent(name)}`,
  region: z
    .looseObject({
      regionZoneInfo: z.looseObject({ assignedRegion: text, assignedZone: text }).nullish(),
      regionDetail: z.looseObject({ regionId: text }).nullish(),
    })
    .transform(({ regionZoneInfo, regionDetail }) => ({
      region: regionZoneInfo?.assignedRegion || (regionDetail?.regionId ?? ""),
      zone: regionZoneInfo?.assignedZone ?? "",
    })),
  specLookup: (connection, cloudSpec) => ({ connectionName: connection, cspResourceId: cloudSpec }),
  cloudSpec: z
    .looseObject({
      Name: z.string(),
      Region: text,
      VCpu: z.looseObject({ Count: wholeNumber }).nullish(),
      MemSizeMib: wholeNumber,
    })
    .transform((one) => ({
      name: one.Name,
      region: one.Region,
      vcpus: one.VCpu?.Count,
      memoryMebibytes: one.MemSizeMib,
    })),
  imageLookup: (connection, name) => ({ connectionName: connection, cspImageName: name }),
  cloudImage,
  cloudImages: z.looseObject({ image: list(cloudImage) }).transform(({ image }) => image),

  infrastructurePath: "infra",
  machinePath: "node",
  groupPath: "nodegroup",
  checkInfrastructure: "checkInfra",
  checkMachine: "checkNode",
  infrastructureRequest: ({ name, description = "", labels, groups }) => ({
    name,
    description,
    installMonAgent: "no",
    label: { ...labels },
    nodeGroups: groups.map(groupRequest),
    // Failed VMs remain recorded, so that their errors can be reported.
    policyOnPartialFailure: "continue",
  }),
  groupRequest,
  growthRequest: (count) => ({ numNodesToAdd: count }),
  infrastructure,
  infrastructureStatus,
  machine,

  loadBalancerRequest: ({ group, port, targetPort, isPublic }) => ({
    type: isPublic ? "PUBLIC" : "INTERNAL",
    scope: "REGION",
    listener: { protocol: "TCP", port: String(port) },
    targetGroup: { protocol: "TCP", port: String(targetPort), nodeGroupId: group },
    // 0 selects the cloud's default.
    healthChecker: { interval: 0, timeout: 0, threshold: 0 },
  }),
  loadBalancerMachines: (machines) => ({ targetGroup: { nodes: [...machines] } }),
  loadBalancer: z
    .looseObject({
      id: text,
      cspResourceId: text,
      status: word,
      listener: z.looseObject({ ip: address, dnsName: address, port: wholeNumber }),
      targetGroup: z.looseObject({ nodeGroupId: text, port: wholeNumber, nodes: list(z.string()) }),
    })
    .transform((one) => ({
      group: one.targetGroup.nodeGroupId || one.id,
      port: one.listener.port ?? 0,
      targetPort: one.targetGroup.port ?? 0,
      address: one.listener.ip ?? one.listener.dnsName,
      status: one.status,
      machines: one.targetGroup.nodes,
      cloudId: one.cspResourceId,
    })),
  saysNotFound: false,
};
