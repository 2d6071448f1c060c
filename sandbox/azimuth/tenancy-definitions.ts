/**
 * The custom resources that azimuth-identity-operator (f66eb81) and azimuth-schedule-operator (d4ac36c) install: names,
 * scopes, schemas and columns as theirs.
 */
import type { NewObject } from "../../lib/kubernetes";
import {
  column,
  filled,
  flag,
  kindsOf,
  list,
  map,
  matching,
  object,
  oneOf,
  openObject,
  optional,
  phase,
  positive,
  text,
  time,
  uri,
  whole,
} from "./schema";

const identity = kindsOf("identity.azimuth.stackhpc.com");
const scheduling = kindsOf("scheduling.azimuth.stackhpc.com");

const IDENTITY_PHASES = ["Pending", "Updating", "Ready", "Deleting", "Failed"];
const LEASE_PHASES = ["Creating", "Pending", "Starting", "Active", "Updating", "Terminating", "Terminated"];
export const leasePhase = phase(...LEASE_PHASES, "Deleting", "Error");

/** The definitions that azimuth-identity-operator installs. */
export const IDENTITY_DEFINITIONS: readonly NewObject[] = [
  identity({
    kind: "Realm",
    plural: "realms",
    isSpecOptional: true,
    spec: object({ tenancyId: optional(filled) }),
    status: openObject({
      phase: phase(...IDENTITY_PHASES.filter((name) => name !== "Updating")),
      oidcIssuerUrl: optional(uri),
      adminUrl: optional(uri),
      platformUsersGroup: optional(filled),
      failureMessage: text,
    }),
    columns: [
      column("Phase", ".status.phase"),
      column("Tenancy ID", ".spec.tenancyId"),
      column("OIDC issuer", ".status.oidcIssuerUrl"),
    ],
  }),
  identity({
    kind: "OIDCClient",
    plural: "oidcclients",
    isSpecOptional: true,
    spec: object(
      {
        realmName: filled,
        clientId: optional(filled),
        public: flag,
        grantTypes: list(oneOf("AuthorizationCode", "ClientCredentials", "DeviceCode")),
        redirectUris: list(uri),
        credentialsSecretName: optional(filled),
      },
      "realmName",
    ),
    status: openObject({
      phase: phase(...IDENTITY_PHASES),
      issuerUrl: optional(filled),
      clientId: optional(filled),
      credentialsSecretName: optional(filled),
    }),
    columns: [
      column("Realm", ".spec.realmName"),
      column("Public", ".spec.public", { type: "boolean" }),
      column("Grant Types", ".spec.grantTypes"),
      column("Phase", ".status.phase"),
      column("Client ID", ".status.clientId"),
      column("Credentials Secret", ".status.credentialsSecretName"),
    ],
  }),
  identity({
    kind: "Platform",
    plural: "platforms",
    // the patterns are not anchored: one character of the set is enough
    spec: object(
      {
        realmName: matching("[a-z0-9-]+"),
        zenithServices: map(
          object({ subdomain: matching("[a-z0-9]+"), fqdn: matching("[a-z0-9\\.-]+") }, "subdomain", "fqdn"),
        ),
      },
      "realmName",
    ),
    status: openObject({
      phase: phase(...IDENTITY_PHASES),
      rootGroup: optional(text),
      zenithServiceSubgroups: map(text),
    }),
    columns: [column("Phase", ".status.phase")],
  }),
];

/** The definitions that azimuth-schedule-operator installs. */
export const SCHEDULING_DEFINITIONS: readonly NewObject[] = [
  scheduling({
    kind: "Lease",
    plural: "leases",
    spec: object(
      {
        cloudCredentialsSecretName: filled,
        startsAt: optional(time),
        endsAt: optional(time),
        gracePeriod: optional(whole(0)),
        resources: object({
          machines: list(object({ sizeId: filled, count: positive }, "sizeId", "count")),
        }),
      },
      "cloudCredentialsSecretName",
      "resources",
    ),
    status: openObject({
      phase: leasePhase,
      errorMessage: text,
      sizeMap: map(text),
      sizeNameMap: map(text),
    }),
    columns: [
      column("Starts At", ".spec.startsAt", { format: "date-time" }),
      column("Ends At", ".spec.endsAt", { format: "date-time" }),
      column("phase", ".status.phase"),
    ],
  }),
  scheduling({
    kind: "Schedule",
    plural: "schedules",
    spec: object(
      {
        ref: object({ apiVersion: text, kind: text, name: text }, "apiVersion", "kind", "name"),
        notAfter: time,
      },
      "ref",
      "notAfter",
    ),
    status: object({ refExists: flag, refDeleteTriggered: flag, updatedAt: optional(time) }),
  }),
];
