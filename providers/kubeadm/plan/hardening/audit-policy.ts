/**
 * Audit policy of the profile cis: who did what, without the contents of Secrets and tokens, and without the frequent
 * reads and reports of Kubernetes itself.
 */
export const AUDIT_POLICY = `apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived]
rules:
  - level: None
    nonResourceURLs: ["/livez*", "/readyz*", "/healthz*", "/version", "/openapi/*"]
  - level: None
    users: ["system:kube-proxy"]
    verbs: [get, list, watch]
  - level: None
    userGroups: ["system:nodes"]
    verbs: [get, list, watch]
    resources:
      - group: ""
        resources: [nodes, nodes/status, pods, services]
  - level: None
    users: ["system:kube-controller-manager", "system:kube-scheduler", "system:apiserver"]
    verbs: [get, list, watch]
  - level: None
    resources:
      - group: coordination.k8s.io
        resources: [leases]
      - group: ""
        resources: [events]
      - group: events.k8s.io
        resources: [events]
  # never with their contents
  - level: Metadata
    resources:
      - group: ""
        resources: [secrets, configmaps, serviceaccounts/token]
      - group: authentication.k8s.io
        resources: [tokenreviews]
  # what changes permissions, and what runs in pods
  - level: Request
    verbs: [create, update, patch, delete, deletecollection]
    resources:
      - group: rbac.authorization.k8s.io
      - group: admissionregistration.k8s.io
      - group: certificates.k8s.io
  - level: Request
    resources:
      - group: ""
        resources: [pods/exec, pods/attach, pods/portforward, pods/proxy, services/proxy, nodes/proxy]
  - level: Metadata
`;
