import { stringify } from "yaml";
import type { JsonObject } from "../../../lib/merge";

/** A service of the cluster's own addons that Zenith exposes. */
interface ExposedService {
  /** Name of the Reservation and of the Client. */
  name: string;
  namespace: string;
  /** What Azimuth's portal shows. */
  label: string;
  iconUrl: string;
  /** Name of the Kubernetes Service, which listens on port 80. */
  service: string;
  mitmProxy: JsonObject;
}

const API_VERSION = "zenith.stackhpc.com/v1alpha1";
/** The icons of Azimuth's portal, azimuth-capi-operator's own defaults. */
const MONITORING_ICON =
  "https://raw.githubusercontent.com/cncf/artwork/master/projects/prometheus/icon/color/prometheus-icon-color.png";
const HEADLAMP_ICON =
  "https://raw.githubusercontent.com/azimuth-cloud/azimuth-capi-operator/main/assets/headlamp-icon.png";

/** Returns the addon that exposes the Grafana of the cluster's monitoring through Zenith, by its name. */
export function monitoringClient(): JsonObject {
  const grafana = "kube-prometheus-stack-grafana";
  const basic = { secretName: grafana, usernameKey: "admin-user", passwordKey: "admin-password" };
  return exposed({
    name: "kube-prometheus-stack-client",
    namespace: "monitoring-system",
    label: "Monitoring",
    iconUrl: MONITORING_ICON,
    service: grafana,
    mitmProxy: { enabled: true, authInject: { type: "Basic", basic } },
  });
}

/** Returns the addon that exposes Headlamp through Zenith, by its name. */
export function headlampClient(): JsonObject {
  return exposed({
    name: "headlamp-client",
    namespace: "headlamp",
    label: "Headlamp Dashboard",
    iconUrl: HEADLAMP_ICON,
    service: "headlamp",
    mitmProxy: { enabled: false },
  });
}

function exposed({ name, namespace, label, iconUrl, service, mitmProxy }: ExposedService): JsonObject {
  const reservation = {
    apiVersion: API_VERSION,
    kind: "Reservation",
    metadata: {
      name,
      annotations: {
        "azimuth.stackhpc.com/service-label": label,
        "azimuth.stackhpc.com/service-icon-url": iconUrl,
      },
    },
    spec: { credentialSecretName: `${name}-zenith-credential` },
  };
  const client = {
    apiVersion: API_VERSION,
    kind: "Client",
    metadata: { name },
    spec: { reservationName: name, upstream: { serviceName: service, port: 80, scheme: "http" }, mitmProxy },
  };
  const manifests = { "client.yaml": stringify(client), "reservation.yaml": stringify(reservation) };
  return { [name]: { kind: "Manifests", spec: { namespace, manifests } } };
}
