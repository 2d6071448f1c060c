import { simulatedChart, TENANCY } from "./tenancy";

/** The value of `foresail:azimuth` for a cluster in a tenancy of the sandbox. */
export function azimuthValues(registrarAdminUrl: string): Record<string, unknown> {
  return {
    name: "demo",
    namespace: TENANCY.namespace,
    templateName: TENANCY.template,
    cloudCredentialsSecretName: TENANCY.credentials,
    leaseName: TENANCY.lease,
    controlPlaneMachineSize: "vm.small",
    nodeGroups: [{ name: "workers", machineSize: "vm.large", count: 2 }],
    addons: { monitoring: true },
    identity: { defaultClusterRole: "cluster-admin" },
    zenith: { registrarAdminUrl, sshdHost: "zenith.sandbox.example", projectId: "0a1b2c" },
    charts: {
      cluster: { chart: simulatedChart("openstack-cluster") },
      zenithOperator: { chart: simulatedChart("zenith-operator") },
      zenithApiServer: { chart: simulatedChart("zenith-apiserver") },
    },
  };
}
