/** The namespace of the sandbox's check; it is kept, so that a second start changes nothing. */
export const CHECK_NAMESPACE = "foresail-check";

/** Name of the check's Deployment and Service. */
export const ECHO = "echo";

/** Replicas of the check's Deployment. */
export const ECHO_REPLICAS = 2;

const labels = { app: ECHO };

/** Returns what spreads the pods with these labels over the nodes, as `topologySpreadConstraints`. */
export const overNodes = (matchLabels: Record<string, string>): object[] => [
  {
    maxSkew: 1,
    topologyKey: "kubernetes.io/hostname",
    whenUnsatisfiable: "ScheduleAnyway",
    labelSelector: { matchLabels },
  },
];

/**
 * Returns a Deployment that answers HTTP, spread over the nodes, and its Service, in the order in which to apply them.
 */
export const echoObjects = [
  { apiVersion: "v1", kind: "Namespace", metadata: { name: CHECK_NAMESPACE } },
  {
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata: { name: ECHO, namespace: CHECK_NAMESPACE, labels },
    spec: {
      replicas: ECHO_REPLICAS,
      selector: { matchLabels: labels },
      template: {
        metadata: { labels },
        spec: {
          automountServiceAccountToken: false,
          terminationGracePeriodSeconds: 1,
          topologySpreadConstraints: overNodes(labels),
          containers: [
            {
              name: ECHO,
              image: "foresail.local/echo:1",
              // the image is preloaded on the nodes; there is no registry
              imagePullPolicy: "Never",
              ports: [{ name: "http", containerPort: 8080, protocol: "TCP" }],
              readinessProbe: { tcpSocket: { port: "http" }, periodSeconds: 1 },
            },
          ],
        },
      },
    },
  },
  {
    apiVersion: "v1",
    kind: "Service",
    metadata: { name: ECHO, namespace: CHECK_NAMESPACE, labels },
    spec: { selector: labels, ports: [{ name: "http", port: 80, targetPort: "http", protocol: "TCP" }] },
  },
];
