import {
  ALL_SOFTWARE,
  annotationsBetween,
  CERTIFICATES,
  DRIFT,
  OS_UPDATES,
  VERSIONED_SOFTWARE,
} from "./annotations";

const API = "admissionregistration.k8s.io/v1";
export const ANNOTATION_POLICY = "foresail-node-annotations";

/** Groups of the credentials in kubeadm's admin.conf and super-admin.conf, with which foresail works. */
const ADMINISTRATORS = ["system:masters", "kubeadm:cluster-admins"];

/** Returns the CEL condition that a write leaves these annotations of a Node as they are. */
const isUnchanged = (keys: readonly string[]) =>
  `${JSON.stringify(keys)}.all(key, variables.before[?key] == variables.after[?key])`;

/**
 * Returns the objects that protect the annotations between foresail and the node agents: only administrators write the
 * commands, and only administrators and the node itself write its report. RBAC has no rules for annotations, and pod
 * networks give the pods of each node the permission to patch the status of all Nodes.
 *
 * @param pattern of the annotation keys
 * @param also whether there are annotations for the configuration of nodes, for what others changed on them, for their
 *   certificates, and for updates of their operating systems
 */
export function annotationPolicy(
  pattern: string,
  also: {
    configuration?: boolean | undefined;
    drift?: boolean | undefined;
    certificates?: boolean | undefined;
    updates?: boolean | undefined;
  } = {},
) {
  const software = [
    ...(also.configuration ? ALL_SOFTWARE : VERSIONED_SOFTWARE),
    ...(also.drift ? [DRIFT] : []),
    ...(also.certificates ? [CERTIFICATES] : []),
    ...(also.updates ? [OS_UPDATES] : []),
  ];
  const { commands, reports } = annotationsBetween(pattern, software);
  const groups = JSON.stringify(ADMINISTRATORS);
  const annotations = (object: string) =>
    `has(${object}.metadata.annotations) ? ${object}.metadata.annotations : {}`;
  return [
    {
      apiVersion: API,
      kind: "ValidatingAdmissionPolicy",
      metadata: { name: ANNOTATION_POLICY },
      spec: {
        // a write that can't be evaluated passes, since kubelets and controllers must be able to write their Nodes
        failurePolicy: "Ignore",
        matchConstraints: {
          resourceRules: [
            {
              apiGroups: [""],
              apiVersions: ["v1"],
              operations: ["CREATE", "UPDATE"],
              // a write to the status can change the annotations, too
              resources: ["nodes", "nodes/status"],
            },
          ],
        },
        matchConditions: [
          {
            name: "not-an-administrator",
            expression: `!has(request.userInfo.groups) || !request.userInfo.groups.exists(group, group in ${groups})`,
          },
        ],
        variables: [
          { name: "before", expression: `oldObject == null ? {} : ${annotations("oldObject")}` },
          { name: "after", expression: annotations("object") },
        ],
        validations: [
          {
            expression: isUnchanged(commands),
            message: "only administrators may write the annotations by which foresail commands node agents",
            reason: "Forbidden",
          },
          {
            expression: `request.userInfo.username == "system:node:" + object.metadata.name || ${isUnchanged(reports)}`,
            message: "only the node itself may write the annotations with which its node agent reports",
            reason: "Forbidden",
          },
        ],
      },
    },
    {
      apiVersion: API,
      kind: "ValidatingAdmissionPolicyBinding",
      metadata: { name: ANNOTATION_POLICY },
      spec: { policyName: ANNOTATION_POLICY, validationActions: ["Deny"] },
    },
  ];
}
