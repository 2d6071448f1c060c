const ZENITH_REPOSITORY = "https://azimuth-cloud.github.io/zenith";

/** The Helm charts of a cluster, and where they come from. */
export const CHARTS = {
  cluster: {
    chart: "openstack-cluster",
    repository: "https://azimuth-cloud.github.io/capi-helm-charts",
    version: "0.27.0",
  },
  zenithOperator: { chart: "zenith-operator", repository: ZENITH_REPOSITORY, version: "0.18.1" },
  zenithApiServer: { chart: "zenith-apiserver", repository: ZENITH_REPOSITORY, version: "0.18.1" },
} as const;

/** Deadlines: each of Realm, OIDCClient and Platform; the Lease; Zenith's registrar; the machines; a destroy. */
export const TIMEOUTS = {
  identitySeconds: 600,
  leaseSeconds: 3600,
  zenithSeconds: 120,
  machinesSeconds: 3600,
  deletionSeconds: 3600,
} as const;

/** Port of Zenith's SSH server. */
export const SSHD_PORT = 22;
