import { z } from "zod";
import { address, list, text, wholeNumber, word } from "../answer";
import type { Dialect } from "../dialect";
import { groupRequest, infrastructure, infrastructureStatus, machine } from "./machines";
import { images, ruleRequest, securityGroups, specs, sshKeys, vNets } from "./resources";

const cloudImage = z
  .looseObject({ IId: z.looseObject({ NameId: text, SystemId: text }), GuestOS: text })
  .transform(({ IId, GuestOS }) => ({ name: IId.NameId || IId.SystemId, guestOs: GuestOS }));

/** The API of releases 0.7 to 0.9. */
export const mcisDialect: Dialect = {
  generation: "mcis",
  vNets,
  securityGroups,
  sshKeys,
  images,
  specs,
  rulesRequest: (rules) => ({ firewallRules: rules.map(ruleRequest) }),
  connection: z
    .looseObject({ ConfigName: z.string(), ProviderName: text, RegionName: text })
    .transform((one) => ({
      name: one.ConfigName,
      provider: one.ProviderName.toLowerCase(),
      regionName: one.RegionName,
    })),
  regionPath: ({ regionName }) => `/region/${encodeURIComponent(regionName)}`,
  region: z
    .looseObject({
      RegionName: z.string(),
      KeyValueInfoList: list(z.looseObject({ Key: text, Value: text })),
    })
    .transform(({ KeyValueInfoList }) => {
      const value = (key: string) => KeyValueInfoList.find(({ Key }) => Key === key)?.Value ?? "";
      return { region: value("Region"), zone: value("Zone") };
    }),
  specLookup: (connection, cloudSpec) => ({ connectionName: connection, cspSpecName: cloudSpec }),
  cloudSpec: z
    .looseObject({
      Name: z.string(),
      Region: text,
      VCpu: z.looseObject({ Count: wholeNumber }).nullish(),
      Mem: wholeNumber,
    })
    .transform((one) => ({
      name: one.Name,
      region: one.Region,
      vcpus: one.VCpu?.Count,
      memoryMebibytes: one.Mem,
    })),
  imageLookup: (connection, name) => ({ connectionName: connection, cspImageId: name }),
  cloudImage,
  cloudImages: z.looseObject({ image: list(cloudImage) }).transform(({ image }) => image),

  infrastructurePath: "mcis",
  machinePath: "vm",
  groupPath: "subgroup",
  checkInfrastructure: "checkMcis",
  checkMachine: "checkVm",
  infrastructureRequest: ({ name, description = "", labels, groups }) => ({
    name,
    description,
    // With any other value, the server installs an agent and waits for it.
    installMonAgent: "no",
    label: labelText(labels),
    systemLabel: "",
    vm: groups.map(groupRequest),
  }),
  groupRequest,
  growthRequest: (count) => ({ numVMsToAdd: String(count) }),
  infrastructure,
  infrastructureStatus,
  machine,

  loadBalancerRequest: ({ group, port, targetPort, isPublic, health }) => ({
    type: isPublic ? "PUBLIC" : "INTERNAL",
    scope: "REGION",
    listener: { protocol: "TCP", port: String(port) },
    targetGroup: { protocol: "TCP", port: String(targetPort), subGroupId: group },
    healthChecker: {
      ...(health === undefined ? {} : { protocol: health.protocol, port: String(health.port) }),
      interval: "default",
      timeout: "default",
      threshold: "default",
    },
  }),
  loadBalancerMachines: (machines) => ({ targetGroup: { vms: [...machines] } }),
  loadBalancer: z
    .looseObject({
      id: text,
      cspNLBId: text,
      status: word,
      listener: z.looseObject({ ip: address, dnsName: address, port: wholeNumber }),
      targetGroup: z.looseObject({ subGroupId: text, port: wholeNumber, vms: list(z.string()) }),
    })
    .transform((one) => ({
      group: one.targetGroup.subGroupId || one.id,
      port: one.listener.port ?? 0,
      targetPort: one.targetGroup.port ?? 0,
      address: one.listener.ip ?? one.listener.dnsName,
      status: one.status,
      machines: one.targetGroup.vms,
      cloudId: one.cspNLBId,
    })),
  saysNotFound: true,
};

/** Returns all labels as one string, as this generation requires. */
function labelText(labels: Readonly<Record<string, string>> = {}): string {
  return Object.entries(labels)
    .map(([key, value]) => `${key}=${value}`)
    .join(",");
}
