import type { Program } from "./program";

/** The version of the cloud controller manager that the tests run, and of the charts beside it. */
export const CLOUD_PROVIDER_VERSION = "1.36.0";

const MODULE = "k8s.io/cloud-provider-openstack";

const CONTROLLER_MANAGER_CHART = [
  "Chart.yaml",
  "templates/_helpers.tpl",
  "templates/clusterrole.yaml",
  "templates/clusterrolebinding-sm.yaml",
  "templates/clusterrolebinding.yaml",
  "templates/daemonset.yaml",
  "templates/secret.yaml",
  "templates/service-sm.yaml",
  "templates/serviceaccount.yaml",
  "templates/servicemonitor.yaml",
  "values.yaml",
].map((file) => `openstack-cloud-controller-manager/${file}`);

const CINDER_CHART = [
  "Chart.yaml",
  "templates/NOTES.txt",
  "templates/_helpers.tpl",
  "templates/cinder-csi-driver.yaml",
  "templates/controllerplugin-deployment.yaml",
  "templates/controllerplugin-podmonitor.yaml",
  "templates/controllerplugin-rbac.yaml",
  "templates/custom_storageclass.yaml",
  "templates/nodeplugin-daemonset.yaml",
  "templates/nodeplugin-rbac.yaml",
  "templates/secret.yaml",
  "templates/storageclass.yaml",
  "values.yaml",
].map((file) => `cinder-csi-plugin/${file}`);

const CHARTS = [...CONTROLLER_MANAGER_CHART, ...CINDER_CHART];

/**
 * OpenStack's cloud controller manager, which is published as an image only, with the files of its chart and of that of
 * the Cinder CSI driver in folders beside it. Used by tests only.
 */
export const cloudProviderOpenstack: Program = {
  name: "cloud-provider-openstack",
  version: CLOUD_PROVIDER_VERSION,
  title: `cloud-provider-openstack ${CLOUD_PROVIDER_VERSION}, its cloud controller manager`,
  folder: `programs/cloud-provider-openstack-${CLOUD_PROVIDER_VERSION}`,
  files: ["manager", ...CHARTS],
  downloads: [],
  builds: [
    {
      module: "cloud-provider-openstack",
      packages: { manager: `${MODULE}/cmd/openstack-cloud-controller-manager` },
      ldflags: `-s -w -X k8s.io/component-base/version.gitVersion=v${CLOUD_PROVIDER_VERSION}`,
      beside: { module: MODULE, below: "charts", files: CHARTS.map((file) => `charts/${file}`) },
      linux: true,
    },
  ],
};
