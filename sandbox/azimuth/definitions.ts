/**
 * The custom resources of a management cluster with Azimuth, in place of those that Azimuth's operators, Cluster API and
 * the addon provider install: real groups, versions, kinds and scopes; of each schema the fields that are used here,
 * with the rules that the real ones have.
 */
import type { NewObject } from "../../clients/kubernetes";

type Schema = Record<string, unknown>;

const text: Schema = { type: "string" };
const required: Schema = { type: "string", minLength: 1 };
const optional: Schema = { type: "string", nullable: true };
const flag: Schema = { type: "boolean" };
const whole = (minimum = 0): Schema => ({ type: "integer", minimum });
const open: Schema = { type: "object", "x-kubernetes-preserve-unknown-fields": true };
const list = (items: Schema): Schema => ({ type: "array", items });
const map = (values: Schema): Schema => ({ type: "object", additionalProperties: values });
const object = (properties: Record<string, Schema>, ...needed: string[]): Schema => ({
  type: "object",
  properties,
  ...(needed.length > 0 ? { required: needed } : {}),
});

interface Kind {
  group: string;
  version: string;
  kind: string;
  plural: string;
  spec: Schema;
  clusterScoped?: boolean;
  withoutStatus?: boolean;
}

function definition({ group, version, kind, plural, spec, clusterScoped, withoutStatus }: Kind): NewObject {
  return {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: `${plural}.${group}` },
    spec: {
      group,
      names: { kind, plural, singular: kind.toLowerCase(), listKind: `${kind}List` },
      scope: clusterScoped ? "Cluster" : "Namespaced",
      versions: [
        {
          name: version,
          served: true,
          storage: true,
          schema: {
            openAPIV3Schema: object({ spec, ...(withoutStatus ? {} : { status: open }) }, "spec"),
          },
          ...(withoutStatus ? {} : { subresources: { status: {} } }),
        },
      ],
    },
  };
}

const azimuth = { group: "azimuth.stackhpc.com", version: "v1alpha1" };
const identity = { group: "identity.azimuth.stackhpc.com", version: "v1alpha1" };
const scheduling = { group: "scheduling.azimuth.stackhpc.com", version: "v1alpha1" };
const addons = { group: "addons.stackhpc.com", version: "v1alpha1" };
const clusterApi = { group: "cluster.x-k8s.io", version: "v1beta1" };
const infrastructure = { group: "infrastructure.cluster.x-k8s.io", version: "v1beta1" };

const clusterSpec = object(
  {
    label: required,
    templateName: required,
    cloudCredentialsSecretName: required,
    zenithIdentityRealmName: optional,
    leaseName: optional,
    paused: flag,
    autohealing: flag,
    controlPlaneMachineSize: required,
    nodeGroups: list(
      object(
        {
          name: required,
          machineSize: required,
          autoscale: flag,
          count: { ...whole(), nullable: true },
          minCount: { ...whole(1), nullable: true },
          maxCount: { ...whole(1), nullable: true },
        },
        "name",
        "machineSize",
      ),
    ),
    addons: object({
      dashboard: flag,
      ingress: flag,
      ingressControllerLoadBalancerIp: { ...optional, format: "ipv4" },
      monitoring: flag,
      monitoringAlertmanagerVolumeSize: whole(1),
      monitoringPrometheusVolumeSize: whole(1),
      monitoringLokiVolumeSize: whole(1),
    }),
    createdByUsername: optional,
    createdByUserId: optional,
    updatedByUsername: optional,
    updatedByUserId: optional,
  },
  "label",
  "templateName",
  "cloudCredentialsSecretName",
  "controlPlaneMachineSize",
);

const addonSpec = (own: Record<string, Schema>): Schema =>
  object(
    {
      clusterName: required,
      bootstrap: flag,
      targetNamespace: required,
      releaseName: optional,
      releaseTimeout: optional,
      lifecycleHooks: open,
      paused: flag,
      ...own,
    },
    "clusterName",
    "targetNamespace",
  );

/** What Azimuth's own operators install. */
export const AZIMUTH_DEFINITIONS: readonly NewObject[] = [
  definition({ ...azimuth, kind: "Cluster", plural: "clusters", spec: clusterSpec }),
  definition({
    ...azimuth,
    kind: "ClusterTemplate",
    plural: "clustertemplates",
    clusterScoped: true,
    withoutStatus: true,
    spec: object(
      { label: required, description: required, deprecated: flag, tags: list(text), values: open },
      "label",
      "description",
      "values",
    ),
  }),
  definition({
    ...identity,
    kind: "Realm",
    plural: "realms",
    spec: object({ tenancyId: optional }),
  }),
  definition({
    ...identity,
    kind: "OIDCClient",
    plural: "oidcclients",
    spec: object(
      {
        realmName: required,
        clientId: optional,
        public: flag,
        grantTypes: list({ type: "string", enum: ["AuthorizationCode", "ClientCredentials", "DeviceCode"] }),
        redirectUris: list(text),
        credentialsSecretName: optional,
      },
      "realmName",
    ),
  }),
  definition({
    ...identity,
    kind: "Platform",
    plural: "platforms",
    spec: object(
      {
        realmName: { type: "string", pattern: "^[a-z0-9-]+$" },
        zenithServices: map(
          object(
            {
              subdomain: { type: "string", pattern: "^[a-z0-9]+$" },
              fqdn: { type: "string", pattern: "^[a-z0-9.-]+$" },
            },
            "subdomain",
            "fqdn",
          ),
        ),
      },
      "realmName",
    ),
  }),
  definition({
    ...scheduling,
    kind: "Lease",
    plural: "leases",
    spec: object(
      {
        cloudCredentialsSecretName: required,
        startsAt: { ...optional, format: "date-time" },
        endsAt: { ...optional, format: "date-time" },
        gracePeriod: { ...whole(), nullable: true },
        resources: object({
          machines: list(object({ sizeId: required, count: whole(1) }, "sizeId", "count")),
        }),
      },
      "cloudCredentialsSecretName",
      "resources",
    ),
  }),
];

/** What Cluster API, its OpenStack provider and the addon provider install. */
export const CLUSTER_API_DEFINITIONS: readonly NewObject[] = [
  definition({
    ...addons,
    kind: "HelmRelease",
    plural: "helmreleases",
    spec: addonSpec({
      chart: object({ repo: required, name: required, version: required }, "repo", "name", "version"),
      valuesSources: list(open),
    }),
  }),
  definition({
    ...addons,
    kind: "Manifests",
    plural: "manifests",
    spec: addonSpec({ manifestSources: list(open) }),
  }),
  definition({ ...clusterApi, kind: "Cluster", plural: "clusters", spec: open }),
  definition({ ...clusterApi, kind: "Machine", plural: "machines", spec: open }),
  definition({ ...clusterApi, kind: "MachineDeployment", plural: "machinedeployments", spec: open }),
  definition({
    group: "controlplane.cluster.x-k8s.io",
    version: "v1beta1",
    kind: "KubeadmControlPlane",
    plural: "kubeadmcontrolplanes",
    spec: open,
  }),
  definition({ ...infrastructure, kind: "OpenStackCluster", plural: "openstackclusters", spec: open }),
  definition({ ...infrastructure, kind: "OpenStackMachine", plural: "openstackmachines", spec: open }),
  definition({
    ...infrastructure,
    kind: "OpenStackMachineTemplate",
    plural: "openstackmachinetemplates",
    spec: open,
  }),
];

/** What the Zenith operator's chart installs in the target cluster. */
export const ZENITH_DEFINITIONS: readonly NewObject[] = [
  definition({
    group: "zenith.stackhpc.com",
    version: "v1alpha1",
    kind: "Reservation",
    plural: "reservations",
    spec: object({ credentialSecretName: optional }),
  }),
  definition({
    group: "zenith.stackhpc.com",
    version: "v1alpha1",
    kind: "Client",
    plural: "clients",
    spec: open,
  }),
];
