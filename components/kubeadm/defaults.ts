import * as pulumi from "@pulumi/pulumi";
import type { z } from "zod";
import type { JsonObject } from "../../lib/merge";
import { withoutDefaults } from "../../lib/pulumi/argument-reader";
import { isPlain } from "../../lib/pulumi/arguments";
import type { ResourceArgs } from "../../lib/pulumi/dynamic-resource";
import { DEFAULT_FILE_MODE, DEFAULT_ROLLOUT } from "../../providers/kubeadm/plan/cluster/defaults";
import { keyGeneration } from "../../providers/kubeadm/plan/encryption/encryption";
import type { PodNetworkKind } from "../../providers/kubeadm/plan/endpoint/network-ports";
import { stagedVersions, type StagedVersions } from "../../providers/kubeadm/plan/rollout/node-agents";
import { withDerivedSettings } from "../../providers/kubeadm/plan/hardening/profile";
import type { Registries } from "../../providers/kubeadm/plan/configuration/registries";
import { furtherSoftware, type RolloutSettings } from "../../providers/kubeadm/plan/rollout/desired";
import {
  type ClusterSpecification,
  COMMUNITY_REPOSITORY,
  type Endpoint,
  type SoftwareSource,
} from "../../providers/kubeadm/plan/cluster/specification";
import type { Timeouts } from "../../providers/kubeadm/resources/declarations";
import type { RegistriesConfiguration } from "../../stacks/schema/host";
import type { ClusterOfCloudFields, ClusterSettings, KubeadmClusterArgs } from "./kubeadm-cluster-args";

/** Returns the kind of the pod network, which decides the ports that it needs. */
export function podNetworkKind({ network: { plugin } }: Pick<ClusterSettings, "network">): PodNetworkKind {
  return (["bridge", "cilium", "calico", "flannel"] as const).find((kind) => kind in plugin) ?? "other";
}

/** Returns the deadlines in the form that state has. */
export function timeouts({
  timeouts,
  ssh,
  rollout: { nodeTimeoutSeconds: change },
}: Pick<ClusterSettings, "timeouts" | "ssh" | "rollout">): Timeouts & { dial: number } {
  return {
    ssh: timeouts.sshSeconds,
    dial: ssh.dialTimeoutSeconds,
    prepare: timeouts.prepareSeconds,
    init: timeouts.initSeconds,
    join: timeouts.joinSeconds,
    ready: timeouts.readySeconds,
    // the default is left out, as in the states of stacks before it could be set
    ...(change === DEFAULT_ROLLOUT.nodeTimeoutSeconds ? {} : { change }),
  };
}

/** Returns how nodes roll out in the form that state has: pools and drains without defaults. */
export function rolloutSettings(
  { rollout }: Pick<ClusterSettings, "rollout">,
  given: Pick<KubeadmClusterArgs, "rollout">,
): ResourceArgs<RolloutSettings> {
  const { pools, drain } = rollout;
  const { pools: givenPools = {}, drain: givenDrain } = given.rollout ?? {};
  return {
    ...rollout,
    pools: withoutDefaults(pools, givenPools),
    ...(drain === undefined ? {} : { drain: withoutDefaults(drain, givenDrain) }),
  } as ResourceArgs<RolloutSettings>;
}

/** Returns the versions that a rollout to the desired versions may pass through. They are staged on each node. */
export function stagedFor(
  version: pulumi.Input<string>,
  rollout: ResourceArgs<RolloutSettings>,
): pulumi.Input<StagedVersions> {
  const staged = (to: string, settings: RolloutSettings) =>
    stagedVersions(to, settings.intermediateVersions, furtherSoftware(settings));
  if (typeof version === "string" && isPlain<RolloutSettings>(rollout)) return staged(version, rollout);
  return pulumi
    .all([version, pulumi.output(rollout)])
    .apply(([to, settings]) => staged(to, settings as RolloutSettings));
}

/** Returns the paths of the files whose content is secret, where there can be any. */
export function secretFiles({ files }: Pick<ClusterSettings, "files">): {
  secretFiles?: pulumi.Input<string[] | undefined>;
} {
  if (isPlain(files)) return {};
  const pathsIfSecret = (list: pulumi.Output<{ path: string }[]>) =>
    pulumi.all([pulumi.isSecret(list), pathsOf(list)]).apply(([secret, paths]) => (secret ? paths : []));
  const lists = Array.isArray(files)
    ? files.map((file) => pathsIfSecret(pulumi.output(file).apply((one) => [one as { path: string }])))
    : [pathsIfSecret(pulumi.output(files))];
  return {
    secretFiles: pulumi.all(lists).apply((paths) => (paths.flat().length > 0 ? paths.flat() : undefined)),
  };
}

const pathsOf = (list: pulumi.Output<{ path: string }[]>) =>
  pulumi.unsecret(list).apply((files) => files.map(({ path }) => path));

function registriesOf({
  mirrors,
  servers = {},
  hosts = {},
}: z.output<typeof RegistriesConfiguration>): Registries {
  return {
    registryMirrors: mirrors,
    // absent as in states of stacks before they could be set
    ...(Object.keys(servers).length > 0 ? { registryServers: servers } : {}),
    ...(Object.keys(hosts).length > 0 ? { registryHosts: hosts } : {}),
  };
}

function sourceOf({ bundle, packages }: Known["source"]): SoftwareSource {
  if (bundle) return { bundle } as SoftwareSource;
  return { packages: { repository: COMMUNITY_REPOSITORY, ...packages } };
}

/** Settings that are known, but for those of machines. */
type Known = Omit<z.output<typeof ClusterOfCloudFields>, "ssh" | "timeouts" | "drain" | "rollout">;

function specificationOf(name: string, endpoint: Endpoint, known: Known): ClusterSpecification {
  const { network, proxy, caBundle, certificateNames, imageRepository } = known;
  return withDerivedSettings(
    {
      name,
      version: known.version,
      source: sourceOf(known.source),
      endpoint,
      network: {
        podCidr: network.podSubnet,
        serviceCidr: network.serviceSubnet,
        dnsDomain: network.dnsDomain,
        bridge: "bridge" in network.plugin,
        ...(network.holdNodeAddress ? { holdNodeAddress: true } : {}),
      },
      kubeadm: known.kubeadm as ClusterSpecification["kubeadm"],
      kubelet: known.kubelet as JsonObject,
      kubeProxy: known.kubeProxy as JsonObject,
      files: known.files.map((file) => ({ ...file, mode: file.mode ?? DEFAULT_FILE_MODE })),
      ...(proxy ? { proxy } : {}),
      ...registriesOf(known.registries),
      ...(certificateNames.length > 0 ? { certificateNames } : {}),
      ...(imageRepository ? { imageRepository } : {}),
      ...(caBundle ? { caBundle } : {}),
      encryptSecretsAtRest: known.encryptSecretsAtRest,
      // absent until the first rotation
      ...(keyGeneration(known) > 1 ? { encryptionKeyGeneration: keyGeneration(known) } : {}),
      ignorePreflightErrors: known.ignorePreflightErrors,
    },
    known,
  );
}

/**
 * Returns the specification that every resource of the cluster takes. State has no defaults of files, kubeadm's objects and
 * issuers of tokens.
 *
 * @param given the arguments that the settings were read from
 * @param valid rejects if the settings are not valid together
 */
export function specification(
  name: string,
  endpoint: pulumi.Output<Endpoint>,
  settings: ClusterSettings,
  given: Pick<KubeadmClusterArgs, "kubeadm" | "files" | "authentication">,
  valid: Promise<true>,
): pulumi.Output<ClusterSpecification> {
  const { ssh: _ssh, timeouts: _timeouts, drain: _drain, rollout: _rollout, ...others } = settings;
  const { credentials: _credentials, ...registries } = others.registries;
  // whatever the program made of it; an input of a resource is secret if a part of it is
  const { credentials: login, ...proxy } = others.proxy ?? {};
  const known = {
    ...others,
    registries,
    proxy: others.proxy && {
      ...proxy,
      ...(login === undefined ? {} : { credentials: pulumi.secret(login) }),
    },
    files: withoutDefaults(others.files, given.files ?? []),
    kubeadm: withoutDefaults(others.kubeadm, given.kubeadm ?? {}),
    authentication: withoutDefaults(others.authentication, given.authentication ?? {}),
  };
  return pulumi
    .all([pulumi.output(valid), endpoint, pulumi.output(known)])
    .apply(([, decided, each]) => specificationOf(name, decided, each as unknown as Known));
}
