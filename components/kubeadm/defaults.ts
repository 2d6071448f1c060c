import * as pulumi from "@pulumi/pulumi";
import * as defaults from "../../providers/kubeadm/plan/cluster/defaults";
import type { BackupSettings } from "../../providers/kubeadm/plan/backup/backup";
import type { CertificateSettings } from "../../providers/kubeadm/plan/certificates/report";
import { keyGeneration } from "../../providers/kubeadm/plan/encryption/encryption";
import { withDerivedSettings } from "../../providers/kubeadm/plan/hardening/profile";
import type { Registries } from "../../providers/kubeadm/plan/configuration/registries";
import {
  COMMUNITY_REPOSITORY,
  type ClusterSpecification,
  type Endpoint,
  type PoolSettings,
  type ProxyCredentials,
  type SoftwareSource,
} from "../../providers/kubeadm/plan/cluster/specification";
import type { PodNetworkKind } from "../../providers/kubeadm/plan/endpoint/network-ports";
import { stagedVersions, type StagedVersions } from "../../providers/kubeadm/plan/rollout/node-agents";
import { stagedUpdates } from "../../providers/kubeadm/plan/updates/updates";
import { furtherSoftware } from "../../providers/kubeadm/plan/rollout/desired";
import type { Timeouts } from "../../providers/kubeadm/resources/declarations";
import type { JsonObject } from "../../lib/merge";
import { lifted } from "../arguments";
import type { CheckedArgs, NetworkPlugin } from "./kubeadm-cluster-args";

/** Returns the plugin, which decides the pod network's resources. */
export const networkPlugin = ({ network }: Pick<CheckedArgs, "network">): NetworkPlugin => network.plugin;

/** Returns the kind of the pod network, which decides the ports that it needs. */
export function podNetworkKind(args: Pick<CheckedArgs, "network">): PodNetworkKind {
  const plugin = networkPlugin(args);
  return (["bridge", "cilium", "calico", "flannel"] as const).find((kind) => kind in plugin) ?? "other";
}

/** Returns the deadlines in the form that state has. */
export function timeouts({
  timeouts: seconds,
  ssh,
  rollout,
}: Pick<CheckedArgs, "timeouts" | "ssh" | "rollout">): Timeouts & { dial: number } {
  const change = rollout.nodeTimeoutSeconds;
  return {
    ssh: seconds.sshSeconds,
    dial: ssh.dialTimeoutSeconds,
    prepare: seconds.prepareSeconds,
    init: seconds.initSeconds,
    join: seconds.joinSeconds,
    ready: seconds.readySeconds,
    // the default is left out, so that states of older releases need no update
    ...(change === defaults.DEFAULT_ROLLOUT.nodeTimeoutSeconds ? {} : { change }),
  };
}

/** Returns where snapshots are kept, and when certificates are renewed, where the configuration says so. */
export function maintenanceSettings({ backup, certificates }: Pick<CheckedArgs, "backup" | "certificates">): {
  backup?: BackupSettings;
  certificates?: CertificateSettings;
} {
  return { ...(backup && { backup }), ...(certificates && { certificates }) };
}

/** Returns the versions that a rollout to the desired versions may pass through. They are staged on each node. */
export function stagedFor({ version, rollout }: CheckedArgs): pulumi.Input<StagedVersions> {
  return lifted({ version }, (known) =>
    stagedVersions(known.version, rollout.intermediateVersions, {
      ...furtherSoftware(rollout),
      ...stagedUpdates(rollout.osUpdates),
    }),
  );
}

/** Returns the paths of the files whose content is secret, where there can be any. */
export function secretFiles({ files, pools }: CheckedArgs): {
  secretFiles?: pulumi.Input<string[] | undefined>;
} {
  const all = [...files, ...Object.values(pools).flatMap((pool) => pool.files)];
  const outputs = all.filter(({ content }) => typeof content !== "string");
  if (outputs.length === 0) return {};
  const secret = Promise.all(outputs.map(({ content }) => pulumi.isSecret(pulumi.output(content)))).then(
    (found) => {
      const paths = outputs.filter((_, index) => found[index]).map(({ path }) => path);
      return paths.length > 0 ? paths : undefined;
    },
  );
  return { secretFiles: pulumi.output(secret) };
}

function proxyOf(
  { http, https, noProxy }: NonNullable<CheckedArgs["proxy"]>,
  credentials: ProxyCredentials | undefined,
): ClusterSpecification["proxy"] {
  return {
    noProxy,
    ...(http === undefined ? {} : { http }),
    ...(https === undefined ? {} : { https }),
    ...(credentials ? { credentials } : {}),
  };
}

function registriesOf({
  mirrors,
  servers = {},
  hosts = {},
}: Omit<CheckedArgs["registries"], "credentials">): Registries {
  return {
    registryMirrors: mirrors,
    // absent as in state of older releases
    ...(Object.keys(servers).length > 0 ? { registryServers: servers } : {}),
    ...(Object.keys(hosts).length > 0 ? { registryHosts: hosts } : {}),
  };
}

/** Returns the settings of pools that have any of their own; without the field for none, as in state of older releases. */
function poolsOf(pools: CheckedArgs["pools"]): Pick<ClusterSpecification, "pools"> {
  const settings = Object.entries(pools).flatMap(([name, { kubelet, files, registries }]) => {
    const { registryMirrors, ...others } = registriesOf(registries);
    const own: PoolSettings = {
      ...(Object.keys(kubelet).length > 0 ? { kubelet: kubelet as JsonObject } : {}),
      ...(files.length > 0 ? { files } : {}),
      ...(Object.keys(registryMirrors).length > 0 ? { registryMirrors } : {}),
      ...others,
    };
    return Object.keys(own).length > 0 ? [[name, own] as const] : [];
  });
  return settings.length > 0 ? { pools: Object.fromEntries(settings) } : {};
}

/** Returns where the software comes from, with the community's repository unless another one is named. */
function sourceOf({ bundle, packages }: CheckedArgs["source"]): SoftwareSource {
  return (
    bundle ? { bundle } : { packages: { repository: COMMUNITY_REPOSITORY, ...packages } }
  ) as SoftwareSource;
}

/** Returns the specification that every resource of the cluster takes. */
export function specification(
  endpoint: pulumi.Output<Endpoint>,
  { proxy, registries, certificateNames: names = [], ...args }: CheckedArgs,
): pulumi.Output<ClusterSpecification> {
  const { credentials: login, ...proxied } = proxy ?? {};
  const { credentials: _, ...sources } = registries;
  const { name, version, source, network, kubeadm, kubelet, kubeProxy, files, imageRepository, caBundle } =
    args;
  const { encryptSecretsAtRest, ignorePreflightErrors, profile, authentication, pools } = args;
  const written = {
    name,
    version,
    source,
    network,
    kubeadm,
    kubelet,
    kubeProxy,
    files,
    imageRepository,
    caBundle,
  };
  const settings = {
    ...written,
    encryptSecretsAtRest,
    ignorePreflightErrors,
    profile,
    authentication,
    pools,
  };
  return pulumi
    .all([
      lifted({ ...settings, sources, proxied }, (known) => known),
      endpoint,
      pulumi.all(names),
      // whatever the program made of it; an input of a resource is secret if a part of it is
      login === undefined ? undefined : pulumi.secret(login),
    ])
    .apply(([resolved, decided, certificateNames, credentials]) => {
      const known = resolved as typeof settings & { sources: typeof sources; proxied: typeof proxied };
      return withDerivedSettings(
        {
          name: known.name,
          version: known.version,
          source: sourceOf(known.source),
          endpoint: decided,
          network: {
            podCidr: known.network.podSubnet,
            serviceCidr: known.network.serviceSubnet,
            dnsDomain: known.network.dnsDomain,
            bridge: "bridge" in known.network.plugin,
            ...(known.network.holdNodeAddress ? { holdNodeAddress: true } : {}),
          },
          kubeadm: known.kubeadm,
          kubelet: known.kubelet as JsonObject,
          kubeProxy: known.kubeProxy as JsonObject,
          files: known.files.map((file) => ({ ...file, mode: file.mode ?? defaults.DEFAULT_FILE_MODE })),
          ...(proxy ? { proxy: proxyOf(known.proxied as typeof proxy, credentials) } : {}),
          ...registriesOf(known.sources),
          ...(certificateNames.length > 0 ? { certificateNames } : {}),
          ...(known.imageRepository ? { imageRepository: known.imageRepository } : {}),
          ...(known.caBundle ? { caBundle: known.caBundle } : {}),
          encryptSecretsAtRest: known.encryptSecretsAtRest,
          // absent until the first rotation, as in state of older releases
          ...(keyGeneration(args) > 1 ? { encryptionKeyGeneration: keyGeneration(args) } : {}),
          ignorePreflightErrors: known.ignorePreflightErrors,
          ...poolsOf(known.pools),
        },
        known,
      );
    });
}
